"""A real daemon for tests: a process of its own, its own directories, port 0."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    """What a request was answered with."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a daemon or command whose configuration, palace and registry lie under `home`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MEMCASTLE_", "XDG_"))}
    return inherited | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
        "PYTHONUNBUFFERED": "1",
        **more,
    }


def until(condition: Callable[[], Any], what: str, patience: float = PATIENCE_SECONDS) -> Any:
    """The first true value of `condition`; fails the test when there is none in time."""
    deadline = time.monotonic() + patience
    pause = 0.02
    while time.monotonic() < deadline:
        if value := condition():
            return value
        # What is watched is often at work on the same processors.
        time.sleep(pause)
        pause = min(pause * 1.2, 0.25)
    raise AssertionError(f"waited {patience} s in vain: {what}")


@dataclass
class Daemon:
    """A daemon process on a palace under `home`. Start and stop it as often as the test wants."""

    home: Path
    settings: dict[str, str] = field(default_factory=dict)
    wrapper: tuple[str, ...] = ()
    """A command that the daemon is started through."""
    process: subprocess.Popen[bytes] | None = None
    port: int = 0

    @property
    def environ(self) -> dict[str, str]:
        return environment(self.home, MEMCASTLE_PORT="0", MEMCASTLE_DB_PORT="0", **self.settings)

    @property
    def log(self) -> Path:
        return self.home / "daemon.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Daemon:
        self.launch()
        self.port = until(self._announced_port, f"the daemon to serve; its log:\n{self.log.read_text()}")
        return self

    def launch(self) -> None:
        """Starts the process and waits for nothing."""
        self.home.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, sys.executable, str(ROOT / "manage.py"), "serve"],
                cwd=self.home,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def _announced_port(self) -> int | None:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}:\n{self.log.read_text()}")
        for file in (self.home / "state" / "memcastle" / "run").glob("*/daemon.json"):
            registration = json.loads(file.read_text())
            if registration["pid"] == self.process.pid:
                return int(registration["bind_addr"].rpartition(":")[2])
        return None

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends the daemon with a signal and returns its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE_SECONDS)
        self.process = None
        return code

    def kill(self) -> None:
        """kill -9."""
        self.stop(signal.SIGKILL)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Answer:
        """One request on a connection of its own. `body` goes as JSON, `raw` as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        sent = dict(headers or {})
        content = raw
        if body is not None:
            content = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, content, sent)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read().decode())
        finally:
            connection.close()

    def get(self, path: str, **more: Any) -> Any:
        """The JSON answer of a GET that must succeed."""
        answer = self.request("GET", path, **more)
        assert answer.status == 200, answer
        return answer.json

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        """The JSON answer of a POST that must succeed."""
        answer = self.request("POST", path, body, **more)
        assert answer.status in (200, 201), answer
        return answer.json

    def mine(self, path: Path, **more: Any) -> dict[str, Any]:
        """Mines a directory and returns the job once it has ended."""
        return self.ended(self.post("/api/jobs", {"type": "mine", "path": str(path), **more})["id"])

    def ended(self, job: str) -> dict[str, Any]:
        """The job once it is completed, failed or cancelled."""

        def over() -> Any:
            found = self.get(f"/api/jobs/{job}")
            return found if found["status"] in ("completed", "failed", "cancelled") else None

        ended: dict[str, Any] = until(over, f"job {job} to end")
        return ended

    def manage(self, *words: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command against this daemon's palace, in a pipe."""
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *words],
            cwd=self.home,
            env=self.environ,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )


@contextmanager
def running_daemon(home: Path, **settings: str) -> Iterator[Daemon]:
    """A daemon for the length of a `with` block."""
    daemon = Daemon(home, settings)
    try:
        yield daemon.start()
    finally:
        if daemon.process is not None:
            daemon.stop()
