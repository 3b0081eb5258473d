"""The daemons of a run: one with the palace, and perhaps a second one that reaches it through the first one's database."""

from __future__ import annotations

import http.client
import random
import re
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.plan import LEASE_SECONDS
from tests.support import Answer, Daemon, environment, until

DRAIN_SECONDS = 1
SETTINGS = {
    "MEMCASTLE_JOBS_LEASE_TTL_SECS": str(LEASE_SECONDS),
    "MEMCASTLE_JOBS_DRAIN_TIMEOUT_SECS": str(DRAIN_SECONDS),
    # Small chunks: many files are more than one drawer.
    "MEMCASTLE_MINING_CHUNK_CHARS": "1000",
}
PORTS = range(20_000, 32_000)
"""Below those that the system gives away: whoever asks a dead daemon's port must not meet another program's daemon."""
REFUSED_SECONDS = 60.0
"""How long a client goes on knocking at a daemon that is down."""
ERROR_LINE = re.compile(r"\S+Z error ")
HURRY = "asked twice to stop"
UNREACHABLE = "memcastle::store::"
"""How the codes begin that say that a daemon does not reach its palace."""


class Lost(Exception):
    """The request was sent and no answer came: it may or may not have been carried out."""


@dataclass
class Node(Daemon):
    """A daemon that keeps its port."""

    remote: bool = False
    """Whether it reaches its palace over the network, which may be down."""
    log_read: int = 0
    """How many bytes of its log were looked at."""

    @property
    def environ(self) -> dict[str, str]:
        return environment(self.home, MEMCASTLE_PORT=str(self.port), **self.settings)

    @property
    def palace(self) -> Path:
        """The directory of the palace, of the daemon that has it."""
        return Path(self.settings["MEMCASTLE_PALACE_PATH"])

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """One request. While nobody listens it is tried again, since it was not sent then.

        Raises Lost when the daemon went away with it.
        """
        deadline = time.monotonic() + REFUSED_SECONDS
        while True:
            try:
                return self.request(method, path, body)
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise AssertionError(f"nobody has listened on {self.url} for {REFUSED_SECONDS} s") from None
                time.sleep(0.05)
            except (OSError, http.client.HTTPException) as error:
                raise Lost(f"{method} {path}: {type(error).__name__}: {error}") from error

    def new_errors(self) -> list[str]:
        """The lines of the log that tell of an error, from where the last look ended."""
        with self.log.open("rb") as log:
            log.seek(self.log_read)
            lines = log.read().decode(errors="replace").splitlines()
            self.log_read = log.tell()
        found = []
        hurried = False
        for line in lines:
            # Who asks twice to stop leaves work behind that cannot end in order.
            hurried = HURRY in line or (hurried and " starting version=" not in line)
            if ERROR_LINE.match(line) and not hurried:
                found.append(line)
        return found

    def signal(self, number: int) -> None:
        """Sends a signal to the process."""
        assert self.process is not None
        self.process.send_signal(number)

    @property
    def pid(self) -> int:
        """The id of the process."""
        assert self.process is not None
        return self.process.pid

    @property
    def up(self) -> bool:
        """Whether there is a process."""
        return self.process is not None and self.process.poll() is None


def free_port(chance: random.Random) -> int:
    """A port that nobody listens on, and that the system gives to nobody."""
    while True:
        port = chance.choice(PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


class Castle:
    """The daemons of a run. The first one has the palace."""

    def __init__(self, directory: Path, daemons: int) -> None:
        chance = random.Random()
        self.database_port = free_port(chance)
        settings = SETTINGS | {"MEMCASTLE_PALACE_PATH": str(directory / "palace")}
        self.nodes = [Node(directory / "daemon-0", settings, port=free_port(chance))]
        for number in range(1, daemons):
            self.nodes.append(self._remote(directory / f"daemon-{number}", free_port(chance)))

    def _remote(self, home: Path, port: int) -> Node:
        configuration = home / "config" / "memcastle" / "config.toml"
        configuration.parent.mkdir(parents=True)
        configuration.write_text(
            "[store]\n"
            'mode = "remote"\n'
            f'url = "ws://127.0.0.1:{self.database_port}"\n'
            'namespace = "memcastle"\n'
            'database = "palace"\n'
            'username = "memcastle"\n'
            'password = "memcastle"\n'
        )
        return Node(home, dict(SETTINGS), port=port, remote=True)

    @property
    def home(self) -> Node:
        """The daemon that has the palace."""
        return self.nodes[0]

    def start(self, node: Node) -> None:
        """Starts a daemon, and opens the database to the others when it is the one that has it."""
        node.start()
        self.open_database(node)

    def open_database(self, node: Node) -> None:
        """Opens the database endpoint of the daemon that has the palace, when there are others."""
        if node is self.home and len(self.nodes) > 1:
            until(lambda: self._opened(node), "the database endpoint to open")

    def _opened(self, node: Node) -> bool:
        answer = node.request("POST", "/api/db", {"port": self.database_port})
        if answer.status == 200:
            return True
        # The port of a killed daemon's endpoint may take a moment.
        assert answer.json["code"] == "memcastle::db::bind_failed", answer
        return False

    def complaints(self) -> list[str]:
        """The errors that daemons with a palace of their own have logged since this was asked last."""
        return [f"{node.home.name} logged: {line}" for node in self.nodes if not node.remote for line in node.new_errors()]

    def start_all(self) -> None:
        """Starts every daemon that is down, the one with the palace first."""
        for node in self.nodes:
            if not node.up:
                self.start(node)

    def stop_all(self) -> list[str]:
        """Stops every daemon, the one with the palace last; gives what was wrong with that."""
        return [problem for node in reversed(self.nodes) if node.up for problem in ended_well(node, node.stop(signal.SIGTERM))]

    def kill_all(self) -> None:
        """kill -9 of whatever runs."""
        for node in self.nodes:
            if node.up:
                node.signal(signal.SIGCONT)
                node.kill()


def ended_well(node: Node, code: int) -> Iterator[str]:
    """What is wrong with the end of a daemon that was told to stop."""
    if code != 0:
        yield f"{node.home.name} ended with {code} after SIGTERM"
    for file in (node.home / "state" / "memcastle" / "run").glob("*/daemon.json"):
        yield f"{node.home.name} left {file.name} behind"
