"""A client of the event stream on a plain socket."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from palace.events import Frame
from tests.support import PATIENCE_SECONDS, Daemon


@dataclass(frozen=True)
class Event:
    """One frame. `data` is the JSON object, without `kind` and `action` told apart."""

    id: str | None
    name: str
    data: dict[str, Any]

    @property
    def told(self) -> tuple[str, str, str | None]:
        return self.name, self.data["action"], self.data.get("status")


@dataclass
class Stream:
    """An open stream; `head` is the answer's head, `comments` how many comment lines came."""

    connection: socket.socket
    head: str = ""
    comments: int = 0
    rest: bytes = b""
    ended: bool = False
    events: list[Event] = field(default_factory=list)

    @classmethod
    def open(cls, daemon: Daemon, query: str = "", **headers: str) -> Stream:
        """Opens a stream and reads up to, and with, its first frame."""
        connection = socket.create_connection(("127.0.0.1", daemon.port), timeout=PATIENCE_SECONDS)
        named = {"Host": f"127.0.0.1:{daemon.port}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        connection.sendall(f"GET /api/events{query} HTTP/1.1\r\n{lines}\r\n".encode())
        stream = cls(connection)
        while b"\r\n\r\n" not in stream.rest:
            stream._receive()
        head, _, stream.rest = stream.rest.partition(b"\r\n\r\n")
        stream.head = head.decode()
        assert stream.head.startswith("HTTP/1.1 200"), stream.head + stream.rest.decode()
        assert stream.next().name == "open"
        return stream

    def _receive(self) -> None:
        received = self.connection.recv(65536)
        self.ended = self.ended or not received
        self.rest += received

    def _chunk(self) -> bytes:
        """The next chunk of the body; empty at its end."""
        while True:
            size, found, rest = self.rest.partition(b"\r\n")
            if found and len(rest) >= int(size, 16) + 2:
                length = int(size, 16)
                self.rest = rest[length + 2 :]
                return rest[:length]
            if self.ended:
                raise ConnectionError("the stream was cut off")
            self._receive()

    def next(self) -> Event:
        """The next frame. Raises EOFError at the end of the stream."""
        while not self.events:
            chunk = self._chunk()
            if not chunk:
                raise EOFError
            for block in chunk.decode().split("\n\n"):
                self._read(block)
        return self.events.pop(0)

    def _read(self, block: str) -> None:
        fields: dict[str, str] = {}
        for line in block.splitlines():
            if line.startswith(":"):
                self.comments += 1
            else:
                name, _, value = line.partition(": ")
                fields[name] = value
        if "event" in fields:
            self.events.append(Event(fields.get("id"), fields["event"], json.loads(fields["data"])))

    def until(self, wanted: Callable[[Event], bool]) -> list[Event]:
        """All frames up to, and with, the first one that is wanted."""
        seen = [self.next()]
        while not wanted(seen[-1]):
            seen.append(self.next())
        return seen

    def job_ended(self, job: str) -> list[Event]:
        """All frames up to the one that tells the end of the job."""
        return self.until(lambda event: event.data.get("id") == job and event.data["status"] in ("completed", "failed"))

    def close(self) -> None:
        self.connection.close()


def id_of(frame: Frame) -> str:
    """The id that a frame has on the wire."""
    return frame.text.decode().split("\n")[0].removeprefix("id: ")
