"""A daemon that is frozen for longer than its leases last (SIGSTOP, a suspended machine), and thaws again."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

from tests.remote.support import guest, hosting
from tests.support import Daemon, running_daemon, until

LEASE_SECONDS = 3
STEPS = 70
"""Steps of a demo job that is to outlive a freeze; each takes a tenth of a second."""


def freeze(daemon: Daemon) -> None:
    """Stops the process in the middle of whatever it does."""
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGSTOP)
    stat = Path(f"/proc/{daemon.process.pid}/stat")
    until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "the daemon to freeze")


def thaw(daemon: Daemon) -> None:
    """Lets it go on."""
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGCONT)


def demo_under_way(daemon: Daemon, steps: int) -> str:
    job = str(daemon.post("/api/jobs", {"type": "demo", "steps": steps})["id"])
    until(lambda: daemon.get(f"/api/jobs/{job}")["progress"]["current"] > 1, "the job to get going")
    return job


def test_a_daemon_that_nobody_took_over_goes_on_where_it_was(tmp_path: Path) -> None:
    """The palace is its own, so no other worker can have run the job: a lease that ran out is as good as new."""
    with running_daemon(tmp_path / "home", MEMCASTLE_JOBS_LEASE_TTL_SECS=str(LEASE_SECONDS)) as daemon:
        job = demo_under_way(daemon, STEPS)
        freeze(daemon)
        time.sleep(LEASE_SECONDS + 1)
        thaw(daemon)
        ended = daemon.ended(job)
        assert (ended["status"], ended["attempt"], ended["recovery_attempts"]) == ("completed", 1, 0)
        assert ended["progress"]["current"] == STEPS
        events = [entry["event"] for entry in daemon.get(f"/api/jobs/{job}/log")]
        assert events == ["created", "claimed", "completed"]


def test_what_a_frozen_daemon_ran_goes_on_elsewhere_and_it_writes_nothing_more(tmp_path: Path) -> None:
    """When it thaws its run is in the middle of a step, and believes that the job is its own."""
    lease = {"MEMCASTLE_JOBS_LEASE_TTL_SECS": str(LEASE_SECONDS)}
    with running_daemon(tmp_path / "one", **lease, MEMCASTLE_JOBS_MAX_CONCURRENCY="1") as one:
        two = guest(tmp_path / "two", hosting(one), **lease)
        try:
            two.start()
            job = taken_by(two)
            before = two.get(f"/api/jobs/{job}")
            freeze(two)
            until(lambda: one.get(f"/api/jobs/{job}")["recovery_attempts"] == 1, "the other daemon to take the job up")
            taken = until(lambda: running_past(one, job, before["progress"]["current"]), "the other daemon to run the job")
            assert taken["lease_owner"] != before["lease_owner"]
            thaw(two)
            until(lambda: "job dropped, its lease is lost" in two.log.read_text(), "the thawed daemon to drop its run")
            ended = one.ended(job)
            assert (ended["status"], ended["attempt"], ended["recovery_attempts"]) == ("completed", 2, 1)
            claims = [entry for entry in one.get(f"/api/jobs/{job}/log") if entry["event"] == "claimed"]
            assert [entry["worker"] for entry in claims] == [before["lease_owner"], taken["lease_owner"]]
            # The thawed daemon works on as if nothing had been.
            assert two.ended(two.post("/api/jobs", {"type": "demo", "steps": 1})["id"])["status"] == "completed"
        finally:
            if two.process is not None:
                thaw(two)
                two.stop()


def taken_by(wanted: Daemon) -> str:
    """A long job that this daemon runs, and not the other one, which has seen it too and has a single worker."""
    elsewhere: list[str] = []
    while len(elsewhere) < 3:
        job = demo_under_way(wanted, STEPS)
        owner = str(wanted.get(f"/api/jobs/{job}")["lease_owner"])
        assert wanted.process is not None
        if owner.startswith(f"memcastle-{wanted.process.pid}-"):
            for other in elsewhere:
                wanted.post(f"/api/jobs/{other}/cancel")
                wanted.ended(other)
            return job
        elsewhere.append(job)
    raise AssertionError("the second daemon never claimed a job, although the first one was full")


def running_past(daemon: Daemon, job: str, step: int) -> Any:
    """The job when it runs and is past that step."""
    found = daemon.get(f"/api/jobs/{job}")
    return found if found["status"] == "running" and found["progress"]["current"] > step else None
