"""What a client of `GET /api/events` sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.events.conftest import OpenStream
from tests.support import Daemon, running_daemon, until


def write(daemon: Daemon, wing: str, text: str) -> str:
    drawer: str = daemon.post(f"/api/wings/{wing}/rooms/r/drawers", {"content": text})["id"]
    return drawer


def test_the_head_says_that_nothing_may_hold_frames_back(shared_daemon: Daemon, follow: OpenStream) -> None:
    head = follow(shared_daemon).head.lower()
    for line in ("content-type: text/event-stream", "cache-control: no-cache, no-transform", "x-accel-buffering: no"):
        assert line in head


def test_a_write_is_told_by_ids_and_kinds_only(shared_daemon: Daemon, follow: OpenStream) -> None:
    stream = follow(shared_daemon)
    drawer = write(shared_daemon, "told", "nobody shall read this here")
    events = stream.until(lambda event: event.data.get("id") == drawer)
    assert [(event.name, event.data["action"]) for event in events[-3:]] == [
        ("wing", "created"),
        ("room", "created"),
        ("drawer", "created"),
    ]
    for event in events:
        assert event.data.keys() <= {"kind", "action", "id", "job_kind", "status"}
        assert event.data["kind"] == event.name
        assert event.id is not None


def test_a_job_is_told_from_its_creation_to_its_end(shared_daemon: Daemon, follow: OpenStream) -> None:
    stream = follow(shared_daemon, "?kinds=job")
    job = shared_daemon.post("/api/jobs", {"type": "demo", "steps": 2})["id"]
    told = [event for event in stream.job_ended(job) if event.data["id"] == job]
    assert {event.data["job_kind"] for event in told} == {"demo"}
    assert [event.told for event in told] == [
        ("job", "created", "queued"),
        ("job", "updated", "running"),
        ("job", "updated", "running"),
        ("job", "updated", "running"),
        ("job", "updated", "completed"),
    ]


def test_a_mine_tells_a_drawer_a_document(shared_daemon: Daemon, follow: OpenStream, tmp_path: Path) -> None:
    for number in range(70):
        (tmp_path / f"{number}.txt").write_text(f"file {number}")
    stream = follow(shared_daemon)
    job = shared_daemon.mine(tmp_path, wing="mined and told")["id"]
    events = stream.job_ended(job)
    drawers = [event for event in events if event.name == "drawer"]
    assert len(drawers) == 70
    assert all("id" not in event.data for event in drawers)


def test_what_is_told_can_be_read(shared_daemon: Daemon, follow: OpenStream) -> None:
    stream = follow(shared_daemon, "?kinds=job")
    for _ in range(20):
        shared_daemon.post("/api/jobs", {"type": "demo", "steps": 0})
    ended = 0
    while ended < 20:
        event = stream.next()
        read = shared_daemon.get(f"/api/jobs/{event.data['id']}")
        order = ["queued", "running", "completed"]
        assert order.index(read["status"]) >= order.index(event.data["status"])
        ended += event.data["status"] == "completed"


def test_kinds_narrow_the_stream(shared_daemon: Daemon, follow: OpenStream) -> None:
    wings, drawers = follow(shared_daemon, "?kinds=wing"), follow(shared_daemon, "?kinds=drawer,%20job")
    drawer = write(shared_daemon, "narrow", "text")
    assert wings.next().name == "wing"
    assert drawers.next().data == {"kind": "drawer", "action": "created", "id": drawer}


@pytest.mark.parametrize("query", ["?kinds=secrets", "?kinds=", "?kinds=job,,wings", "?kinds=job&kinds=wing"])
def test_unknown_kinds_are_refused(shared_daemon: Daemon, query: str) -> None:
    answer = shared_daemon.request("GET", f"/api/events{query}")
    assert (answer.status, answer.json["code"]) == (400, "memcastle::input::invalid")
    assert answer.json["error"].startswith("query: ")


def test_the_memory_mode_is_checked(shared_daemon: Daemon, follow: OpenStream) -> None:
    follow(shared_daemon, X_MemCastle_Mode="read_only")
    refused = shared_daemon.request("GET", "/api/events", headers={"X-MemCastle-Mode": "disabled"})
    assert (refused.status, refused.json["code"]) == (403, "memcastle::mode::forbidden")
    unknown = shared_daemon.request("GET", "/api/events", headers={"X-MemCastle-Mode": "everything"})
    assert (unknown.status, unknown.json["code"]) == (400, "memcastle::input::invalid")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD"])
def test_there_is_nothing_but_reading(shared_daemon: Daemon, method: str) -> None:
    answer = shared_daemon.request(method, "/api/events")
    assert (answer.status, answer.headers["allow"]) == (405, "GET")
    if method != "HEAD":
        assert answer.json["code"] == "memcastle::server::method_not_allowed"


def test_the_stream_wants_the_token(tmp_path: Path, follow: OpenStream) -> None:
    token = "a token of the test"
    with running_daemon(tmp_path, MEMCASTLE_AUTH_ENABLED="true", MEMCASTLE_AUTH_TOKEN=token) as daemon:
        refused = daemon.request("GET", "/api/events")
        assert (refused.status, refused.json["code"]) == (401, "memcastle::auth::unauthorized")
        follow(daemon, Authorization=f"Bearer {token}")


def test_the_end_of_the_daemon_ends_the_stream(tmp_path: Path, follow: OpenStream) -> None:
    with running_daemon(tmp_path) as daemon:
        streams = [follow(daemon) for _ in range(3)]
        assert daemon.stop() == 0
        for stream in streams:
            with pytest.raises(EOFError):
                stream.next()
    assert "were cancelled" not in daemon.log.read_text()


def test_a_client_that_does_not_read_delays_no_stop(tmp_path: Path, follow: OpenStream) -> None:
    with running_daemon(tmp_path, MEMCASTLE_JOBS_DRAIN_TIMEOUT_SECS="2") as daemon:
        follow(daemon)
        for _ in range(3):
            daemon.ended(daemon.post("/api/jobs", {"type": "demo", "steps": 3})["id"])
        assert daemon.stop() == 0


def test_a_client_that_left_is_forgotten(tmp_path: Path, follow: OpenStream) -> None:
    with running_daemon(tmp_path) as daemon:
        streams = [follow(daemon) for _ in range(20)]
        for stream in streams:
            stream.close()
        until(lambda: _sockets(daemon) <= 1, "the daemon to close what its clients left")


def _sockets(daemon: Daemon) -> int:
    """Established connections of the daemon."""
    assert daemon.process is not None
    inodes = {
        target.removeprefix("socket:[").removesuffix("]")
        for fd in Path(f"/proc/{daemon.process.pid}/fd").iterdir()
        if fd.exists() or fd.is_symlink()
        for target in [_target(fd)]
        if target.startswith("socket:[")
    }
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[9] in inodes and row[3] == "01" for row in rows)


def _target(fd: Path) -> str:
    try:
        return str(fd.readlink())
    except OSError:
        return ""
