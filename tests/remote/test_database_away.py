"""The server of a palace goes away, and comes back: killed, standing still, its listener closed."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.remote.support import SHORT_LEASE, Host, guest, hosting, started
from tests.support import Answer, Daemon, until

REQUESTS = (
    ("GET", "/api/wings", None),
    ("GET", "/api/search?q=castle", None),
    ("GET", "/api/jobs", None),
    ("POST", "/api/jobs", {"type": "demo", "steps": 1}),
    ("POST", "/api/wings", {"name": "lost"}),
)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Host, Daemon]]:
    owner = Daemon(tmp_path / "owner")
    with started(owner):
        host = hosting(owner)
        other = guest(tmp_path / "other", host, **SHORT_LEASE)
        with started(other):
            yield host, other


def datastore(daemon: Daemon) -> dict[str, Any]:
    found: dict[str, Any] = daemon.get("/api/status")["datastore"]
    return found


def refused(answer: Answer) -> None:
    assert (answer.status, answer.json["code"]) == (503, "memcastle::store::backend_failed"), answer
    assert answer.json["help"]


def killed(host: Host) -> Callable[[], None]:
    host.daemon.kill()

    def back() -> None:
        host.daemon.start()
        host.reopen()

    return back


def closed(host: Host) -> Callable[[], None]:
    assert host.daemon.request("DELETE", "/api/db").status == 200
    return host.reopen


@pytest.mark.parametrize("away", [killed, closed])
def test_requests_are_refused_in_words_and_work_goes_on_afterwards(
    pair: tuple[Host, Daemon], away: Callable[[Host], Callable[[], None]]
) -> None:
    host, daemon = pair
    assert daemon.request("POST", "/api/wings", {"name": "kept"}).status == 201
    for _ in range(2):
        back = away(host)
        until(lambda: not datastore(daemon)["ok"], "the loss to be told")
        assert datastore(daemon)["location"] == host.url
        assert f"the database at {host.url} cannot be reached: " in datastore(daemon)["error"]
        for method, path, body in REQUESTS:
            refused(daemon.request(method, path, body))
        assert daemon.get("/api/health") == {"status": "ok"}
        assert daemon.manage("status").returncode == 1
        back()
        until(lambda: datastore(daemon)["ok"], "the daemon to come back by itself")
        assert [wing["name"] for wing in daemon.get("/api/wings")] == ["kept"]
        assert daemon.ended(daemon.post("/api/jobs", {"type": "demo", "steps": 1})["id"])["status"] == "completed"
    log = daemon.log.read_text()
    assert log.count("connected to the database again") == 2
    assert "the change tailer broke" not in log
    assert daemon.stop() == 0


def test_a_server_that_stands_still_is_noticed_and_used_again(pair: tuple[Host, Daemon]) -> None:
    """Its connections stay open, so nothing but its silence tells."""
    host, daemon = pair
    assert host.daemon.process is not None
    host.daemon.process.send_signal(signal.SIGSTOP)
    try:
        assert datastore(daemon)["error"] == "the database has not answered for 5 s"
        until(lambda: daemon.request("GET", "/api/wings").status == 503, "the silence to be noticed")
        assert "no sign of life" in daemon.log.read_text()
        refused(daemon.request("POST", "/api/wings", {"name": "lost"}))
        assert not datastore(daemon)["ok"]
    finally:
        host.daemon.process.send_signal(signal.SIGCONT)
    until(lambda: datastore(daemon)["ok"], "the daemon to come back by itself")
    assert daemon.request("POST", "/api/wings", {"name": "kept"}).status == 201
    assert [wing["name"] for wing in host.daemon.get("/api/wings")] == ["kept"]


def test_a_daemon_stops_in_order_while_the_server_is_away(pair: tuple[Host, Daemon]) -> None:
    host, daemon = pair
    daemon.post("/api/jobs", {"type": "demo", "steps": 1000})
    host.daemon.kill()
    until(lambda: not datastore(daemon)["ok"], "the loss to be told")
    assert daemon.stop() == 0
    assert "Traceback" not in daemon.log.read_text().rpartition("shutdown requested")[2]


def test_a_mine_that_loses_its_server_ends_whole(tmp_path: Path, pair: tuple[Host, Daemon]) -> None:
    """The server is killed in the middle; in the end every file is filed once, whoever ran the job."""
    host, daemon = pair
    tree = tmp_path / "tree"
    tree.mkdir()
    for number in range(300):
        (tree / f"file{number}.txt").write_text(f"document {number}\n" + f"the castle has many rooms, number {number}\n" * 30)
    job = daemon.post("/api/jobs", {"type": "mine", "path": str(tree), "wing": "mined"})["id"]
    until(lambda: daemon.get(f"/api/jobs/{job}")["progress"]["current"] > 0, "the mine to be under way")
    host.daemon.kill()
    host.daemon.start()
    host.reopen()

    def over() -> Any:
        answer = daemon.request("GET", f"/api/jobs/{job}")
        return answer.json if answer.status == 200 and answer.json["status"] in ("completed", "failed") else None

    ended = until(over, "the job to end")
    if ended["status"] == "failed":
        assert "database" in ended["error"]
        daemon.post(f"/api/jobs/{job}/retry")
        ended = daemon.ended(job)
    assert ended["status"] == "completed", ended
    assert daemon.get("/api/status")["drawer_count"] == 300
    assert len(daemon.get("/api/search?q=castle&limit=200")) == 200
