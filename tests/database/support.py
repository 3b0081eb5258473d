"""What the tests of the database endpoint share: an open endpoint, and a client that hides nothing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import cbor2
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.support import PATIENCE_SECONDS, Daemon

TOKEN = "a-configured-token-0123456789"
NONE = cbor2.CBORTag(6, None)


@dataclass(frozen=True)
class Endpoint:
    """A daemon with its database endpoint open."""

    daemon: Daemon
    port: int

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def connect(
        self, *subprotocols: str, headers: Mapping[str, str] | None = None, origin: str | None = None, path: str = "/rpc"
    ) -> ClientConnection:
        return connect(
            f"{self.url}{path}",
            subprotocols=[Subprotocol(name) for name in subprotocols] or None,
            additional_headers=dict(headers or {}),
            origin=origin,  # type: ignore[arg-type]
            proxy=None,
            max_size=None,
            open_timeout=PATIENCE_SECONDS,
        )

    @contextmanager
    def client(self, *subprotocols: str, headers: Mapping[str, str] | None = None) -> Iterator[Client]:
        with self.connect(*subprotocols, headers=headers) as socket:
            yield Client(socket)


class Client:
    """Asks one thing after another, in CBOR when that was agreed on and in JSON otherwise."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self._numbers = itertools.count(1)

    @property
    def binary(self) -> bool:
        return self.socket.subprotocol == "cbor"

    def send(self, method: str, *params: Any, **more: Any) -> int:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": list(params), **more}
        self.socket.send(cbor2.dumps(message) if self.binary else json.dumps(message))
        return number

    def receive(self) -> dict[str, Any]:
        frame = self.socket.recv(timeout=PATIENCE_SECONDS)
        assert isinstance(frame, bytes) is self.binary
        answer: dict[str, Any] = cbor2.loads(frame) if isinstance(frame, bytes) else json.loads(frame)
        return answer

    def ask(self, method: str, *params: Any, **more: Any) -> dict[str, Any]:
        number = self.send(method, *params, **more)
        answer = self.receive()
        assert answer["id"] == number
        return answer

    def result(self, method: str, *params: Any, **more: Any) -> Any:
        answer = self.ask(method, *params, **more)
        assert "error" not in answer, answer
        return answer["result"]

    def error(self, method: str, *params: Any, **more: Any) -> dict[str, Any]:
        answer = self.ask(method, *params, **more)
        assert "result" not in answer, answer
        found: dict[str, Any] = answer["error"]
        return found

    def query(self, sql: str, variables: Mapping[str, Any] | None = None, **more: Any) -> Any:
        """The result of the only statement."""
        entries = self.result("query", sql, dict(variables or {}), **more)
        assert [entry["status"] for entry in entries] == ["OK"], entries
        return entries[0]["result"]


def opened(daemon: Daemon, headers: Mapping[str, str] | None = None, **asked: Any) -> Endpoint:
    """Opens the endpoint on any free port."""
    status = daemon.post("/api/db", {"port": 0, **asked}, headers=headers)
    return Endpoint(daemon, int(status["addr"].rpartition(":")[2]))
