"""Following jobs as a person sees it: real commands and a real daemon on a pseudo-terminal."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memcastle_site.console.progress import AWAY
from tests.console.support import Shell
from tests.console.test_commands_on_a_terminal import Session, session
from tests.console.test_job_watch_command import demo
from tests.support import Daemon, running_daemon

SHOW_CURSOR = b"\x1b[?25h"


@contextmanager
def at_terminal(daemon: Daemon, *words: str) -> Iterator[Session]:
    with session(Shell({**daemon.environ, "TERM": "xterm"}), *words, cwd=daemon.home) as seen:
        yield seen


def test_one_job_is_a_bar_and_then_a_card(shared_daemon: Daemon) -> None:
    identity = demo(shared_daemon, 15)
    with at_terminal(shared_daemon, "job", "watch", identity) as seen:
        seen.read_until("/15 steps")
        assert seen.finish() == 0
    assert f"demo job {identity}" in seen.plain
    assert seen.raw.rstrip().rfind(SHOW_CURSOR) > 0


def test_a_cancelled_job_ends_the_bar_with_an_error(shared_daemon: Daemon) -> None:
    identity = demo(shared_daemon, 10_000)
    with at_terminal(shared_daemon, "job", "watch", identity) as seen:
        seen.read_until("/10,000 steps")
        shared_daemon.post(f"/api/jobs/{identity}/cancel")
        assert seen.finish() == 1
    assert "was cancelled" in seen.plain


def test_ctrl_c_leaves_the_job_and_says_how_to_go_on(shared_daemon: Daemon) -> None:
    identity = demo(shared_daemon, 10_000)
    with at_terminal(shared_daemon, "job", "watch", identity) as seen:
        seen.read_until("/10,000 steps")
        seen.process.send_signal(signal.SIGINT)
        assert seen.finish() == 130
    assert f"job watch {identity}" in seen.plain
    assert shared_daemon.get(f"/api/jobs/{identity}")["status"] == "running"
    shared_daemon.post(f"/api/jobs/{identity}/cancel")


def test_all_jobs_are_a_table_that_outlives_the_daemon(tmp_path: Path) -> None:
    with running_daemon(tmp_path / "home") as daemon, at_terminal(daemon, "job", "watch") as seen:
        seen.read_until("no job waits, runs or pauses")
        identity = demo(daemon, 30)
        seen.read_until(f"{identity}  demo  running")
        seen.read_until("/30")
        daemon.kill()
        seen.read_until(AWAY)
        daemon.start()
        # The line of a change stands above the table and stays.
        seen.read_until(f"{identity}  demo        completed")
        seen.process.send_signal(signal.SIGINT)
        assert seen.finish() == 130
    assert "Traceback" not in seen.plain
    assert seen.raw.rfind(SHOW_CURSOR) > seen.raw.rfind(b"\x1b[?25l")
