"""Sends one request to an ASGI application, without a server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memcastle_site.gate.layer import Application


@dataclass
class Answer:
    """What an application sent; `status` is None while it sent nothing."""

    status: int | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    complete: bool = False

    def header(self, name: str) -> str | None:
        values = [value for found, value in self.headers if found == name]
        assert len(values) < 2, f"{name} was sent twice"
        return values[0] if values else None

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        assert set(found) == {"error", "code", "help"}
        return found


async def ask(
    app: Application,
    method: str = "GET",
    path: str = "/api/wings",
    *headers: tuple[str, str],
    host: str | None = "127.0.0.1:8420",
    body: Sequence[bytes] = (b"",),
    raw_headers: Iterable[tuple[bytes, bytes]] = (),
) -> Answer:
    given = [(b"host", host.encode())] if host is not None else []
    given += [(name.lower().encode(), value.encode()) for name, value in headers]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"secret=1",
        "root_path": "/moved",
        "headers": [*given, *raw_headers],
    }
    answer = Answer()
    pieces = list(body)

    async def receive() -> dict[str, Any]:
        if not pieces:
            return {"type": "http.disconnect"}
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            assert answer.status is None
            answer.status = message["status"]
            answer.headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
        else:
            answer.body += message.get("body", b"")
            answer.complete = not message.get("more_body", False)

    await app(scope, receive, send)
    return answer
