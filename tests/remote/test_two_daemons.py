"""Two daemons on one palace: one memory, one queue of jobs, one stream of events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.events.support import Stream
from tests.remote.support import SHORT_LEASE, Host, guest, hosting, started
from tests.support import Daemon, until

ONE_WORKER = {"MEMCASTLE_JOBS_MAX_CONCURRENCY": "1"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Daemon]]:
    """The daemon that has the palace, and one that reaches it over the first one's endpoint; one worker each."""
    base = tmp_path_factory.mktemp("pair")
    owner = Daemon(base / "owner", dict(ONE_WORKER))
    with started(owner):
        other = guest(base / "other", hosting(owner), **ONE_WORKER)
        with started(other):
            yield owner, other


def write(daemon: Daemon, wing: str, text: str) -> Any:
    daemon.request("POST", "/api/wings", {"name": wing})
    daemon.request("POST", f"/api/wings/{wing}/rooms", {"name": "room"})
    return daemon.post(f"/api/wings/{wing}/rooms/room/drawers", {"content": text})


def test_what_one_writes_the_other_finds_at_once(pair: tuple[Daemon, Daemon]) -> None:
    for number, (here, there) in enumerate((pair, pair[::-1])):
        wing, word = f"seen-{number}", f"zeppelin{number}"
        drawer = write(here, wing, f"a {word} above the castle")
        assert wing in {found["name"] for found in there.get("/api/wings")}
        assert [hit["id"] for hit in there.get(f"/api/search?q={word}")] == [drawer["id"]]
        assert there.get(f"/api/wings/{wing}/rooms/room/drawers/{drawer['id']}")["content"] == drawer["content"]
        assert there.request("DELETE", f"/api/wings/{wing}/rooms/room/drawers/{drawer['id']}").status == 200
        assert here.get(f"/api/search?q={word}") == []
        assert here.request("GET", f"/api/wings/{wing}/rooms/room/drawers/{drawer['id']}").status == 404


def test_the_same_text_stored_at_both_is_one_drawer(pair: tuple[Daemon, Daemon]) -> None:
    assert len({write(daemon, "once", "the same sentence")["id"] for daemon in pair * 2}) == 1


def test_events_of_one_are_told_by_the_other(pair: tuple[Daemon, Daemon]) -> None:
    for here, there in (pair, pair[::-1]):
        stream = Stream.open(there)
        try:
            drawer = write(here, f"told-by-{there.port}", f"news from {here.port}")
            while stream.next().data.get("id") != drawer["id"]:
                pass
        finally:
            stream.close()


def test_a_job_runs_at_the_daemon_with_a_free_worker_and_once(pair: tuple[Daemon, Daemon]) -> None:
    owner, other = pair
    long = [owner.post("/api/jobs", {"type": "demo", "steps": 60})["id"] for _ in range(2)]
    until(lambda: all(owner.get(f"/api/jobs/{job}")["status"] == "running" for job in long), "both daemons to be busy")
    short = [daemon.post("/api/jobs", {"type": "demo", "steps": 2})["id"] for daemon in pair * 5]
    assert {owner.ended(job)["status"] for job in short + long} == {"completed"}
    for job in short + long:
        assert other.get(f"/api/jobs/{job}")["attempt"] == 1
    claimed = {job: [daemon for daemon in pair if runs_here(daemon, job)] for job in long}
    assert sorted(len(daemons) for daemons in claimed.values()) == [1, 1]
    assert {daemons[0].port for daemons in claimed.values()} == {owner.port, other.port}


def runs_here(daemon: Daemon, job: str) -> bool:
    return f"claimed by worker job_id={job}" in daemon.log.read_text()


def test_a_job_of_one_is_controlled_from_the_other(pair: tuple[Daemon, Daemon]) -> None:
    for asked, becomes in (("pause", "paused"), ("cancel", "cancelled")):
        job = pair[0].post("/api/jobs", {"type": "demo", "steps": 6000})["id"]
        until(lambda job=job: any(runs_here(daemon, job) for daemon in pair), "the job to run")
        (stranger,) = (daemon for daemon in pair if not runs_here(daemon, job))
        stranger.post(f"/api/jobs/{job}/{asked}")
        until(
            lambda job=job, becomes=becomes: all(daemon.get(f"/api/jobs/{job}")["status"] == becomes for daemon in pair),
            f"the job to be {becomes}",
        )


def test_jobs_of_a_daemon_that_ends_go_on_at_the_other(tmp_path: Path, host: Host) -> None:
    """One is stopped in order, one is killed; each time the job goes on where it was, at whoever is left."""
    first, second = (
        guest(tmp_path / name, host, store={"database": "handed-on"}, **SHORT_LEASE) for name in ("first", "second")
    )
    with started(first):
        job = first.post("/api/jobs", {"type": "demo", "steps": 100})["id"]
        until(lambda: first.get(f"/api/jobs/{job}")["progress"]["current"] > 5, "the job to be under way")
        with started(second):
            assert first.stop() == 0
            until(lambda: second.get(f"/api/jobs/{job}")["attempt"] == 2, "the job to be taken up")
            assert second.get(f"/api/jobs/{job}")["recovery_attempts"] == 0
            first.start()
            second.kill()
            until(lambda: first.get(f"/api/jobs/{job}")["attempt"] == 3, "the lease to run out and the job to be taken up")
            ended = first.ended(job)
    assert (ended["status"], ended["attempt"], ended["recovery_attempts"]) == ("completed", 3, 1)
    assert ended["progress"]["current"] == 100


def test_a_job_of_a_living_daemon_is_not_taken_by_one_that_starts(tmp_path: Path, host: Host) -> None:
    first, second = (guest(tmp_path / name, host, store={"database": "not-taken"}) for name in ("first", "second"))
    with started(first):
        job = first.post("/api/jobs", {"type": "demo", "steps": 60})["id"]
        until(lambda: first.get(f"/api/jobs/{job}")["status"] == "running", "the job to run")
        with started(second):
            assert second.ended(job)["attempt"] == 1
