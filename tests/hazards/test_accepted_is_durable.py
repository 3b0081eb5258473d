"""What a client was told is stored survives kill -9, once; and what was queued is carried out by the next daemon."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.support import Daemon, running_daemon

DRAWERS = "/api/wings/notes/rooms/inbox/drawers"


def everything(daemon: Daemon, drawers: str) -> dict[str, str]:
    """The contents of a room's drawers, by id."""
    listed = daemon.get(f"{drawers}?limit=200")
    return {entry["id"]: daemon.get(f"{drawers}/{entry['id']}")["content"] for entry in listed}


def test_writes_and_requests_answered_before_a_kill_are_there_afterwards(tmp_path: Path) -> None:
    """With a single worker that is held up, so that every job but one is still waiting when the daemon dies."""
    with running_daemon(tmp_path / "home", MEMCASTLE_JOBS_MAX_CONCURRENCY="1") as daemon:
        jobs = [daemon.post("/api/jobs", {"type": "demo", "steps": 1000})["id"]]
        jobs += [daemon.post("/api/jobs", {"type": "demo", "steps": 0})["id"] for _ in range(19)]

        def write(number: int) -> Any:
            return daemon.request("POST", DRAWERS, {"content": f"note {number}"})

        with ThreadPoolExecutor(5) as clients:
            answers = list(clients.map(write, range(20)))
        backlog = daemon.get("/api/status")
        daemon.kill()
        assert [answer.status for answer in answers] == [201] * 20
        assert backlog["jobs_queued"] + backlog["jobs_running"] == 20

        daemon.start()
        assert everything(daemon, DRAWERS) == {answer.json["id"]: answer.json["content"] for answer in answers}
        daemon.post(f"/api/jobs/{jobs[0]}/cancel")
        assert [daemon.ended(job)["status"] for job in jobs] == ["cancelled"] + ["completed"] * 19
        assert daemon.get("/api/status")["jobs_queued"] == 0
        assert max(daemon.get(f"/api/jobs/{job}")["recovery_attempts"] for job in jobs[1:]) == 0


def test_the_same_text_sent_by_two_clients_at_once_is_one_drawer(shared_daemon: Daemon) -> None:
    drawers = "/api/wings/twins/rooms/inbox/drawers"

    def write(content: str) -> Any:
        return shared_daemon.request("POST", drawers, {"content": content})

    with ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(write, ["one and the same\nnote"] * 16))
    assert sorted(answer.status for answer in answers) == [200] * 15 + [201]
    assert len({answer.json["id"] for answer in answers}) == 1
    for spelling in ("one and the same\r\nnote", "\ufeffone and the same\nnote"):
        again = write(spelling)
        assert (again.status, again.json["id"], again.json["content"]) == (
            200,
            answers[0].json["id"],
            "one and the same\nnote",
        )
    assert len(everything(shared_daemon, drawers)) == 1


def test_a_text_added_twice_is_still_there_once(shared_daemon: Daemon) -> None:
    drawers = "/api/wings/twice/rooms/inbox/drawers"
    for named in ({}, {"name": "named"}):
        body = {"content": f"a memory {named}", **named}
        first, second = shared_daemon.request("POST", drawers, body), shared_daemon.request("POST", drawers, body)
        assert (first.status, second.status) == (201, 200)
        assert first.json["id"] == second.json["id"]
        assert (first.json["created"], second.json["created"]) == (True, False)
    assert len(everything(shared_daemon, drawers)) == 2
    refused = shared_daemon.request("POST", drawers, {"content": "another text", "name": "named"})
    assert (refused.status, refused.json["code"]) == (409, "memcastle::palace::drawer_name_taken")
    assert len(everything(shared_daemon, drawers)) == 2
