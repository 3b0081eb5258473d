"""Commands as a person runs them: a process of their own on a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memcastle_site import __version__
from tests.console.support import JOB_ID, FakeDaemon, Request, Shell, job, mined
from tests.console.test_search_command import hit
from tests.console.test_status_command import status

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
HEAVY = {
    "surrealdb",
    "ninja",
    "pydantic",
    "huey",
    "mcp",
    "channels",
    "daphne",
    "rich",
    "httpx",
    "django.http",
    "django.db.models",
}
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Session:
    """A command on a terminal of 80 columns; `screen` is all that it has printed so far."""

    def __init__(self, words: list[str], environ: dict[str, str], cwd: Path) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        command = [sys.executable, str(MANAGE), *words]
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environ, cwd=cwd)
        os.close(slave)
        self.raw = b""

    def read_until(self, text: str) -> None:
        """Reads until the screen shows `text`; fails when the command ends or 20 seconds pass before that."""
        while text not in self.plain:
            if not self._read():
                raise AssertionError(f"{text!r} never came: {self.plain!r}")

    def finish(self) -> int:
        """Reads to the end and returns the exit code."""
        while self._read():
            pass
        return self.process.wait()

    @property
    def plain(self) -> str:
        return _ESCAPE.sub("", self.raw.decode())

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], 20)
        if not ready:
            raise AssertionError(f"the command hangs: {self.plain!r}")
        try:
            chunk = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += chunk
        return bool(chunk)


@contextmanager
def session(shell: Shell, *words: str, cwd: Path) -> Iterator[Session]:
    opened = Session(list(words), shell.environ, cwd)
    try:
        yield opened
    finally:
        os.close(opened.master)
        opened.process.kill()
        opened.process.wait()


def run(shell: Shell, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(MANAGE), *words]
    return subprocess.run(command, env=shell.environ, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_search_prints_coloured_text_and_nothing_that_content_could_command(
    shell: Shell, daemon: FakeDaemon, home: Path
) -> None:
    daemon.on("GET /api/search", [hit(content="\x1b]0;title\x07 the parser \x9b2J 图数据库")])
    with session(shell, "search", "parser", cwd=home) as seen:
        assert seen.finish() == 0
    assert "django/src/src/parser.py" in seen.plain
    assert "\\x1b]0;title\\x07 the parser \\x9b2J 图数据库" in seen.plain
    assert b"\x1b[1m" in seen.raw
    assert b"\x1b]" not in seen.raw
    assert b"\x07" not in seen.raw
    assert "\x9b" not in seen.raw.decode()


def test_status_is_a_report_and_keeps_its_exit_code(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    daemon.on("GET /api/status", status(datastore={"pending": ["0004_words"]}))
    with session(shell, "status", cwd=home) as seen:
        assert seen.finish() == 1
    assert "memcastle is running but degraded" in seen.plain


def test_mine_shows_a_progress_bar_and_then_its_report(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    seen_running = threading.Event()
    running = job("running", progress={"current": 700, "total": 2000}, checkpoint={"stats": {"skipped": 34}})

    def poll(request: Request) -> tuple[int, Any]:
        return 200, job("completed", result=mined(2000, skipped=34)) if seen_running.is_set() else running

    daemon.on("POST /api/jobs", job())
    daemon.replies[f"GET /api/jobs/{JOB_ID}"] = poll
    with session(shell, "mine", ".", cwd=home) as seen:
        seen.read_until("700/2,000 documents")
        seen.read_until("skipped 34")
        seen_running.set()
        assert seen.finish() == 0
    assert "2,000 created" in seen.plain


def test_mine_tells_that_it_waits_in_the_queue(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    daemon.on("POST /api/jobs", job())
    daemon.on(f"GET /api/jobs/{JOB_ID}", job())
    with session(shell, "mine", ".", cwd=home) as seen:
        seen.read_until("queued")
        seen.process.send_signal(signal.SIGINT)
        assert seen.finish() == 130
    assert f"job cancel {JOB_ID}" in seen.plain
    assert "Traceback" not in seen.plain


def test_a_deletion_is_confirmed_by_hand(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    daemon.on("GET /api/wings/w", {"wing": {"name": "w", "rooms": 1, "drawers": 3}, "rooms": []})
    daemon.on("DELETE /api/wings/w", {"wings": 1, "rooms": 1, "drawers": 3})
    with session(shell, "wing", "delete", "w", cwd=home) as seen:
        seen.read_until("[y/N]")
        os.write(seen.master, b"y\n")
        assert seen.finish() == 0
    assert "deleted 1 wing, 1 room, 3 drawers" in seen.plain


def test_global_flags_may_stand_before_the_command(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    daemon.on("GET /api/wings", [])
    done = run(shell, "--mode", "read_only", "--json", "wings", "list", cwd=home)
    assert (done.returncode, done.stdout) == (0, "[]\n")
    assert daemon.requests[0].headers["X-MemCastle-Mode"] == "read_only"


def test_a_reader_that_goes_away_is_not_an_error_message(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    daemon.on("GET /api/search", [hit(content="x" * 200_000)] * 5)
    words = [sys.executable, str(MANAGE), "search", "x"]
    with subprocess.Popen(words, env=shell.environ, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_terminal_without_unicode_gets_escapes_instead_of_a_crash(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    shell.environ |= {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    daemon.on("GET /api/search", [hit(content="图数据库 parser")])
    with session(shell, "search", "parser", cwd=home) as seen:
        assert seen.finish() == 0
    assert "\\u56fe" in seen.plain


@pytest.mark.parametrize(
    ("words", "code", "shown"),
    [
        ([], 2, "usage: manage.py"),
        (["--help"], 0, "usage: manage.py"),
        (["--version"], 0, f"memcastle {__version__}\n"),
        (["serach"], 2, "Did you mean search?"),
    ],
)
def test_the_front_page(shell: Shell, home: Path, words: list[str], code: int, shown: str) -> None:
    done = run(shell, *words, cwd=home)
    assert done.returncode == code
    assert shown in done.stdout + done.stderr


@pytest.mark.parametrize("words", ["search x", "job list", "job watch", "mine /", "db status", "status"])
def test_a_client_command_imports_no_heavy_module(shell: Shell, home: Path, words: str) -> None:
    command = [sys.executable, "-X", "importtime", str(MANAGE), *words.split()]
    shell.environ["MEMCASTLE_PORT"] = "0"
    done = subprocess.run(command, env=shell.environ, cwd=home, capture_output=True, text=True)
    assert done.returncode == (3 if words == "status" else 1)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert imported & HEAVY == set()
