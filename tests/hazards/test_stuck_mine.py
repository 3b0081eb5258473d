"""A mine that hangs in a read is stopped by force, within seconds, and neither the daemon nor the next job is harmed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hazards.hanging_disk import mark_of
from tests.support import Daemon, until

WRAPPER = (sys.executable, str(Path(__file__).with_name("hanging_disk.py")))
FILES = 40


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    running = Daemon(tmp_path / "home", {"MEMCASTLE_JOBS_DRAIN_TIMEOUT_SECS": "1"}, WRAPPER)
    try:
        yield running.start()
    finally:
        if running.process is not None:
            running.stop()


def tree(root: Path, name: str) -> Path:
    """A directory whose last file hangs; the batch before it is filed by then."""
    root.mkdir()
    for number in range(FILES):
        (root / f"{number:02}.txt").write_text(f"file {number} of {root.name}")
    (root / f"zz {name}.txt").write_text("never read")
    return root


def stuck(daemon: Daemon, root: Path) -> str:
    """A mine of that directory that has filed what it could and hangs."""
    job: str = daemon.post("/api/jobs", {"type": "mine", "path": str(root), "wing": root.name})["id"]
    (hanging,) = root.glob("zz *")
    until(mark_of(hanging).exists, "the mine to hang")
    return job


def log_of(daemon: Daemon, job: str) -> list[dict[str, Any]]:
    log: list[dict[str, Any]] = daemon.get(f"/api/jobs/{job}/log")
    return log


@pytest.mark.parametrize("name", ["asleep", "busy"])
def test_a_stuck_mine_is_cancelled_and_its_record_is_honest(daemon: Daemon, tmp_path: Path, name: str) -> None:
    root = tree(tmp_path / "tree", name)
    job = stuck(daemon, root)
    assert daemon.post(f"/api/jobs/{job}/cancel") == {"status": "cancel_requested"}
    assert daemon.get(f"/api/jobs/{job}")["status"] == "running"
    assert daemon.post(f"/api/jobs/{job}/force-cancel") == {"status": "force_cancelled"}
    ended = daemon.get(f"/api/jobs/{job}")
    assert (ended["status"], ended["error"], ended["lease_owner"]) == ("cancelled", None, None)
    filed = ended["checkpoint"]["stats"]["filed"]
    assert filed == ended["progress"]["current"] == daemon.get("/api/status")["drawer_count"] == 32
    log = log_of(daemon, job)
    assert [entry["event"] for entry in log][-3:] == ["cancel_requested", "cancel_requested", "cancelled"]
    assert log[-1]["reason"].startswith("force-cancelled")
    health = daemon.get("/api/status")["health"]
    assert (health["ok"], health["workers"]["busy"]) == (True, 0)

    # The same directory can be mined at once, and goes on behind what was filed.
    (root / f"zz {name}.txt").unlink()
    again = daemon.mine(root, wing="tree")
    assert (again["status"], again["result"]["filed"]) == ("completed", FILES - 32)
    assert daemon.get("/api/status")["drawer_count"] == FILES
    assert daemon.get(f"/api/jobs/{job}") == ended


def test_every_place_is_free_again(daemon: Daemon, tmp_path: Path) -> None:
    """Two places for background jobs: with a leak the third stuck mine would wait for ever."""
    for number in range(5):
        job = stuck(daemon, tree(tmp_path / f"tree{number}", "asleep"))
        daemon.post(f"/api/jobs/{job}/force-cancel")
    workers = daemon.get("/api/status")["health"]["workers"]
    assert (workers["alive"], workers["busy"]) == (4, 0)
    demos = [daemon.post("/api/jobs", {"type": "demo", "steps": 1})["id"] for _ in range(8)]
    assert {daemon.ended(demo)["status"] for demo in demos} == {"completed"}


def test_only_a_running_mine_is_forced(daemon: Daemon) -> None:
    demo = daemon.post("/api/jobs", {"type": "demo", "steps": 100})["id"]
    until(lambda: daemon.get(f"/api/jobs/{demo}")["status"] == "running", "the demo to run")
    refused = daemon.request("POST", f"/api/jobs/{demo}/force-cancel")
    assert (refused.status, refused.json["code"]) == (400, "memcastle::jobs::transition_invalid")
    assert daemon.get(f"/api/jobs/{demo}")["cancel_requested"] is False
    daemon.post(f"/api/jobs/{demo}/cancel")
    assert daemon.ended(demo)["status"] == "cancelled"
    refused = daemon.request("POST", f"/api/jobs/{demo}/force-cancel")
    assert (refused.status, refused.json["code"]) == (400, "memcastle::jobs::transition_invalid")
    assert daemon.request("POST", "/api/jobs/nonsense/force-cancel").status == 400


def test_a_crash_after_the_request_is_honoured(daemon: Daemon, tmp_path: Path) -> None:
    job = stuck(daemon, tree(tmp_path / "tree", "asleep"))
    daemon.post(f"/api/jobs/{job}/cancel")
    daemon.kill()
    daemon.start()
    ended = daemon.ended(job)
    assert (ended["status"], ended["recovery_attempts"]) == ("cancelled", 0)
