"""Those who only look on: one reads the queue all the time, one listens to the events."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.chaos.castle import Castle, Lost, Node
from tests.chaos.model import Model
from tests.chaos.rules.jobs import wrong_row

LOOK_SECONDS = 0.25
PAGE = 100


class Observer(threading.Thread):
    """Reads the newest jobs again and again while the round goes on, and blames what must never be seen."""

    def __init__(self, castle: Castle, model: Model) -> None:
        super().__init__(name="observer", daemon=True)
        self._castle = castle
        self._model = model
        self._over = threading.Event()

    def run(self) -> None:
        turn = 0
        while not self._over.wait(LOOK_SECONDS):
            turn += 1
            try:
                answer = self._castle.nodes[turn % len(self._castle.nodes)].ask("GET", f"/api/jobs?limit={PAGE}")
            except Lost:
                continue
            if answer.status == 200:
                for problem in seen_wrong(answer.json):
                    self._model.blame(problem)

    def end(self) -> None:
        """Ends the looking on, and waits for it."""
        self._over.set()
        self.join()


def seen_wrong(jobs: Iterable[dict[str, Any]]) -> Iterator[str]:
    """What must not be in a list of jobs at any moment."""
    mined: dict[str, str] = {}
    for job in jobs:
        yield from wrong_row(job)
        if job["status"] == "running" and job["kind"]["type"] == "mine":
            path = job["kind"]["path"]
            if path in mined:
                yield f"the jobs {mined[path]} and {job['id']} mine {path} at the same time"
            mined[path] = job["id"]


class Watcher(threading.Thread):
    """Listens to the events of one daemon and notes every job's end."""

    def __init__(self, node: Node) -> None:
        super().__init__(name=f"watcher of {node.home.name}", daemon=True)
        self._connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=60)
        self._connection.request("GET", "/api/events")
        self._socket = self._connection.sock
        self._stream = self._connection.getresponse()
        assert self._stream.status == 200, self._stream.status
        self.live = threading.Event()
        self.ended: set[tuple[str, str]] = set()
        """Job and status."""

    def run(self) -> None:
        try:
            for line in self._stream:
                if line.startswith(b"data:"):
                    self._note(json.loads(line[5:]))
        except (OSError, http.client.HTTPException):
            # The connection was shut down below us, which is how listening ends.
            return

    def _note(self, event: dict[str, Any]) -> None:
        self.live.set()
        if event.get("kind") == "job" and event.get("status") in ("completed", "failed", "cancelled"):
            self.ended.add((event["id"], event["status"]))

    def close(self) -> None:
        """Ends the listening, and waits for that."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.join()
        self._connection.close()


@contextmanager
def watching(nodes: Iterable[Node]) -> Iterator[list[Watcher]]:
    """Listeners to these daemons, live for the length of the block."""
    watchers = [Watcher(node) for node in nodes]
    for watcher in watchers:
        watcher.start()
    try:
        for watcher in watchers:
            if not watcher.live.wait(30):
                raise AssertionError(f"the {watcher.name} was not greeted")
        yield watchers
    finally:
        for watcher in watchers:
            watcher.close()
