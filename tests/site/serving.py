"""Runs the front in a process of its own and speaks to it over real sockets."""

from __future__ import annotations

import http.client
import json
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PATIENCE = 30.0
"""Seconds after which a condition that should come about counts as failed."""

ROOT = Path(__file__).resolve().parents[2]


class Server:
    def __init__(self, log: Path, grace: float) -> None:
        self._log = log
        command = [sys.executable, "-W", "error", "-m", "tests.site.front_app", str(grace)]
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=stderr)
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline() if readable else b""
        assert line, f"the server did not start: {self.log}"
        self.port = int(json.loads(line)["port"])

    @property
    def log(self) -> str:
        return self._log.read_text()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def get(self, path: str, **headers: str) -> tuple[int, Any]:
        connection = self.connection()
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def state(self) -> dict[str, int]:
        state: dict[str, int] = self.get("/state")[1]
        return state

    def begin_stop(self) -> None:
        """Asks for the stop and returns once nothing new is accepted."""
        self.process.send_signal(signal.SIGTERM)
        eventually(self._refuses)

    def _refuses(self) -> bool:
        try:
            self.socket().close()
        except ConnectionRefusedError:
            return True
        return False

    def ended(self) -> int:
        """The exit code, once the process is gone."""
        return self.process.wait(PATIENCE)

    def discard(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def eventually(condition: Callable[[], bool]) -> None:
    """Returns once the condition holds; fails when it does not come about."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come about"
        time.sleep(0.01)


def read_all(sock: socket.socket) -> bytes:
    """Everything up to the end of the connection, also one that is reset."""
    received = b""
    try:
        while chunk := sock.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    return received
