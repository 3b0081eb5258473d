"""Threads that were left behind in a read do no harm: not while they hang, not when they come back, not at a stop."""

from __future__ import annotations

import fcntl
import http.client
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from tests.hazards.hanging_disk import mark_of
from tests.support import Daemon, until

WRAPPER = (sys.executable, str(Path(__file__).with_name("hanging_disk.py")))
BATCH = 32
"""Documents that mining commits at once."""
FILES = BATCH + 8


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon with two places for background jobs, on a disk that hangs."""
    running = Daemon(tmp_path / "home", {"MEMCASTLE_JOBS_LEASE_TTL_SECS": "3"}, WRAPPER)
    try:
        yield running.start()
    finally:
        if running.process is not None:
            running.stop()


def grow(root: Path, way: str) -> Path:
    """A directory whose newest file hangs in that way."""
    root.mkdir()
    written = time.time() - 1000
    for number in range(FILES):
        file = root / f"{number:02}.txt"
        file.write_text(f"note {number} of {root.name}\n")
        os.utime(file, (written, written + number))
    hanging = root / f"{way}.txt"
    hanging.write_text("never read\n")
    return hanging


def held(file: Path) -> IO[bytes]:
    """The file, locked for as long as it is open."""
    lock = file.open("rb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def hanging_mine(daemon: Daemon, file: Path) -> dict[str, Any]:
    """Mines the directory of a hanging file, and comes back when the first batch is filed and the mine at that file."""
    job = daemon.post("/api/jobs", {"type": "mine", "path": str(file.parent), "wing": file.parent.name})["id"]
    until(mark_of(file).exists, "the mine to hang")
    running: dict[str, Any] = daemon.get(f"/api/jobs/{job}")
    assert (running["status"], running["progress"]["current"]) == ("running", BATCH)
    return running


def force_cancelled(daemon: Daemon, job: dict[str, Any]) -> dict[str, Any]:
    """The job after it was cancelled by force: it says what was committed, and no more."""
    assert daemon.post(f"/api/jobs/{job['id']}/force-cancel") == {"status": "force_cancelled"}
    cancelled: dict[str, Any] = daemon.get(f"/api/jobs/{job['id']}")
    assert (cancelled["status"], cancelled["error"], cancelled["lease_owner"]) == ("cancelled", None, None)
    assert (cancelled["progress"], cancelled["checkpoint"]) == (job["progress"], job["checkpoint"])
    assert cancelled["checkpoint"]["stats"]["filed"] == BATCH
    requested, ended = daemon.get(f"/api/jobs/{job['id']}/log")[-2:]
    assert (requested["event"], ended["event"], ended["worker"]) == ("cancel_requested", "cancelled", job["lease_owner"])
    assert ended["reason"].startswith("force-cancelled")
    return cancelled


def test_code_that_keeps_the_interpreter_lock_for_moments_is_broken_off(daemon: Daemon, tmp_path: Path) -> None:
    """Requests wait for each of its moments, and are answered all the same."""
    hanging = grow(tmp_path / "tree", "patterns")
    cancelled = force_cancelled(daemon, hanging_mine(daemon, hanging))
    hanging.unlink()
    again = daemon.mine(hanging.parent, wing="tree")
    assert (again["status"], again["result"]["filed"]) == ("completed", FILES - BATCH)
    assert daemon.get(f"/api/jobs/{cancelled['id']}") == cancelled
    audit = daemon.ended(daemon.post("/api/jobs", {"type": "audit"})["id"])["result"]
    assert (audit["orphan_drawers"], audit["dangling_provenance_drawers"]) == ([], [])
    assert audit["total_drawers_in_scope"] == FILES


def test_threads_that_never_come_back_take_no_place(daemon: Daemon, tmp_path: Path) -> None:
    """More of them than there are workers; those that do come back in the end find that nothing is theirs any more."""
    hangs = [grow(tmp_path / f"tree-{number}", "locked") for number in range(5)]
    locks = [held(hanging) for hanging in hangs]
    jobs = []
    for first, second in ((0, 1), (2, 3)):
        pair = [hanging_mine(daemon, hangs[first]), hanging_mine(daemon, hangs[second])]
        jobs += [force_cancelled(daemon, job) for job in pair]
    jobs.append(force_cancelled(daemon, hanging_mine(daemon, hangs[4])))
    assert daemon.ended(daemon.post("/api/jobs", {"type": "demo", "steps": 1})["id"])["status"] == "completed"
    for lock in locks[:-1]:
        lock.close()
    # What comes back ends with its run; a worker that went on would take a job, and hang no more.
    until(lambda: daemon.log.read_text().count("job dropped, its lease is lost") == len(locks) - 1, "the threads to end")
    for job in jobs:
        assert daemon.get(f"/api/jobs/{job['id']}") == job
    for hanging in hangs:
        hanging.unlink()
        again = daemon.mine(hanging.parent, wing=hanging.parent.name)
        assert (again["status"], again["result"]["filed"]) == ("completed", FILES - BATCH)
    assert daemon.get("/api/status")["drawer_count"] == len(hangs) * FILES
    # One thread hangs still, and a stop does not wait for it.
    assert daemon.stop() == 0
    locks[-1].close()


def test_a_client_that_does_not_wait_for_the_answer_changes_nothing(daemon: Daemon, tmp_path: Path) -> None:
    hanging = grow(tmp_path / "tree", "locked")
    with held(hanging):
        job = hanging_mine(daemon, hanging)
        with pytest.raises(TimeoutError):
            hang_up(daemon, f"/api/jobs/{job['id']}/force-cancel")
        ended = daemon.ended(job["id"])
        assert (ended["status"], ended["error"]) == ("cancelled", None)
        hanging.unlink()
        assert daemon.mine(hanging.parent, wing="tree")["status"] == "completed"


def hang_up(daemon: Daemon, path: str) -> None:
    """Asks, and breaks the connection off half a second later. Raises TimeoutError when there was no answer by then."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=0.5)
    try:
        connection.request("POST", path)
        connection.getresponse()
    finally:
        connection.close()
