"""`job watch`: one job to its end, or all of them, through whatever happens to the daemon."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from jobs.management.commands.job import Command as Job
from tests.console.support import JOB_ID, FakeDaemon, Request, Shell, error_body, job
from tests.console.test_following_events import EVENTS, OPEN, frame
from tests.support import ROOT, Daemon, running_daemon

ELSEWHERE = "/api/jobs/00000000-0000-4000-8000-000000000000"


@contextmanager
def watching(daemon: Daemon, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`job watch` in a pipe, for the length of a `with` block."""
    command = [sys.executable, str(ROOT / "manage.py"), "-v", "job", "watch", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=daemon.home, env=daemon.environ, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The next line; the test waits as long as it takes the command to print one, or to end."""
    assert process.stdout is not None
    text = process.stdout.readline()
    assert text, process.stderr.read() if process.stderr else ""
    told: dict[str, Any] = json.loads(text)
    return told


def demo(daemon: Daemon, steps: int) -> str:
    return str(daemon.post("/api/jobs", {"type": "demo", "steps": steps})["id"])


def test_one_job_is_a_line_for_each_status_and_its_end_is_the_exit_code(shared_daemon: Daemon) -> None:
    identity = demo(shared_daemon, 6)
    done = shared_daemon.manage("-v", "job", "watch", identity)
    assert done.returncode == 0, done.stderr
    told = [json.loads(text) for text in done.stdout.splitlines()]
    assert {job["id"] for job in told} == {identity}
    assert told[-1] == shared_daemon.get(f"/api/jobs/{identity}")
    assert all(before["status"] != after["status"] for before, after in pairwise(told))
    assert "polling" not in done.stderr


@pytest.mark.parametrize(("action", "ending", "advice"), [("pause", "paused", "job resume"), ("cancel", "cancelled", "")])
def test_a_job_that_settles_otherwise_is_a_failure(shared_daemon: Daemon, action: str, ending: str, advice: str) -> None:
    identity = demo(shared_daemon, 10_000)
    with watching(shared_daemon, identity) as process:
        while line(process)["status"] != "running":
            pass
        shared_daemon.post(f"/api/jobs/{identity}/{action}")
        assert line(process)["status"] == ending
        out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    assert "memcastle::cli::job_unfinished" in err
    assert advice in err


def test_a_job_that_has_ended_is_told_at_once(shared_daemon: Daemon) -> None:
    identity = demo(shared_daemon, 0)
    shared_daemon.ended(identity)
    done = shared_daemon.manage("job", "watch", identity)
    assert [json.loads(text)["status"] for text in done.stdout.splitlines()] == ["completed"]
    assert done.returncode == 0


def test_an_unknown_job_and_a_mode_that_forbids_reading_are_refused(shared_daemon: Daemon) -> None:
    done = shared_daemon.manage("job", "watch", ELSEWHERE.rpartition("/")[2])
    assert done.returncode == 1
    assert "memcastle::jobs::not_found" in done.stderr
    done = shared_daemon.manage("--mode", "disabled", "job", "watch")
    assert done.returncode == 1
    assert "memcastle::mode::forbidden" in done.stderr


def test_without_an_id_every_job_is_followed_until_ctrl_c(shared_daemon: Daemon) -> None:
    first = demo(shared_daemon, 10_000)
    with watching(shared_daemon) as process:
        told = line(process)
        while told["id"] != first:
            told = line(process)
        second = demo(shared_daemon, 2)
        seen: list[str] = []
        while "completed" not in seen:
            told = line(process)
            if told["id"] == second:
                seen.append(told["status"])
        shared_daemon.post(f"/api/jobs/{first}/cancel")
        while (told["id"], told["status"]) != (first, "cancelled"):
            told = line(process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert len(seen) == len(set(seen))
    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_killed_daemon_that_comes_back_elsewhere_goes_on_being_followed(tmp_path: Path) -> None:
    with running_daemon(tmp_path / "home") as daemon:
        identity = demo(daemon, 30)
        with watching(daemon, identity) as one, watching(daemon) as every:
            for process in (one, every):
                while line(process)["status"] != "running":
                    pass
            before = daemon.port
            daemon.kill()
            daemon.start()
            assert daemon.port != before
            for process in (one, every):
                while (told := line(process))["status"] != "completed":
                    pass
                assert told["id"] == identity
            assert one.wait() == 0
            assert every.poll() is None
        assert daemon.get(f"/api/jobs/{identity}")["attempt"] == 2


def test_jobs_that_ended_while_the_daemon_was_away_are_told(shell: Shell, daemon: FakeDaemon) -> None:
    gone, kept = JOB_ID, JOB_ID[:-1] + "7"
    jobs = {gone: job("running"), kept: job("queued", id=kept)}
    first, second = daemon.streaming(OPEN), daemon.streaming(OPEN)
    refusal = (401, error_body("memcastle::auth::unauthorized", "invalid"))

    def listing(request: Request) -> tuple[int, Any]:
        streams = daemon.asked().count(EVENTS)
        if streams == 3:
            return refusal
        found = [entry for entry in jobs.values() if [entry["status"]] == request.query["status"]]
        if request.query["status"] == ["paused"]:
            # The last of the three listings. After the first reading the daemon goes away, and one job ends.
            if streams == 1:
                jobs[gone] = job("failed", error="disk full")
                first.end()
            else:
                jobs[kept] = job("cancelled", id=kept)
                second.send(frame("9-0", kept, "cancelled"))
                second.end()
        return 200, found

    daemon.on("GET /api/health", {"status": "ok"})
    daemon.replies["GET /api/jobs"] = listing
    daemon.on(EVENTS, first, second, refusal)
    for identity in (gone, kept):
        daemon.replies[f"GET /api/jobs/{identity}"] = lambda request: (200, jobs[request.path.rpartition("/")[2]])
    outcome = shell.run(Job, "watch")
    # A refusal ends the command.
    assert outcome.code == 1
    assert "memcastle::auth::unauthorized" in outcome.err
    told = [json.loads(text) for text in outcome.out.splitlines()]
    assert [(entry["id"], entry["status"]) for entry in told] == [
        (gone, "running"),
        (kept, "queued"),
        (gone, "failed"),
        (kept, "cancelled"),
    ]


@pytest.mark.parametrize("words", [[], [JOB_ID]], ids=["all", "one"])
def test_without_a_daemon_nothing_is_waited_for(shell: Shell, words: list[str]) -> None:
    gone = FakeDaemon()
    gone.close()
    shell.environ["MEMCASTLE_PORT"] = str(gone.port)
    outcome = shell.run(Job, "watch", *words)
    assert outcome.code == 1
    assert "memcastle::client::not_running" in outcome.err


def test_mine_follows_the_stream_and_does_not_poll(shared_daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words to keep")
    done = shared_daemon.manage("-v", "mine", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "polling" not in done.stderr
    assert json.loads(done.stdout)["totals"]["created"] == 1
