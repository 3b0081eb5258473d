"""A daemon that answers what a test tells it to, and a way to run a command in this process."""

from __future__ import annotations

import io
import json
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from memcastle_site.console.command import ConsoleCommand
from memcastle_site.console.output import Streams

JOB_ID = "0b6f2c1e-4a5d-4c3b-8e7f-112233445566"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived; `path` is not decoded."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: Any


Reply = tuple[int, Any]


class LiveStream:
    """The body of an answer without an end: a test says what is sent, and when it ends."""

    def __init__(self, *pieces: str) -> None:
        self._pieces: queue.Queue[bytes | None] = queue.Queue()
        self.abandoned = threading.Event()
        for piece in pieces:
            self.send(piece)

    def send(self, text: str) -> None:
        self._pieces.put(text.encode())

    def end(self) -> None:
        self._pieces.put(None)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces.get, None)


@dataclass
class FakeDaemon:
    """Answers each route with a fixed reply, or with each of a list in turn (the last one again and again)."""

    replies: dict[str, Reply | list[Reply] | Callable[[Request], Reply]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    streams: list[LiveStream] = field(default_factory=list)
    server: ThreadingHTTPServer = field(init=False)

    def __post_init__(self) -> None:
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self.server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def on(self, route: str, *replies: Reply | Any) -> None:
        """`on("GET /api/wings", [..])`: a value is answered with 200; several are answered in turn."""
        self.replies[route] = [reply if _is_reply(reply) else (200, reply) for reply in replies]

    def reply_to(self, request: Request) -> Reply:
        self.requests.append(request)
        found = self.replies.get(f"{request.method} {request.path}")
        if callable(found):
            return found(request)
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found or (404, error_body("memcastle::server::route_not_found", "no such route"))

    def streaming(self, *pieces: str) -> LiveStream:
        """A stream that ends with this daemon at the latest."""
        stream = LiveStream(*pieces)
        self.streams.append(stream)
        return stream

    def asked(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.requests]

    def close(self) -> None:
        for stream in self.streams:
            stream.end()
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


def error_body(code: str, message: str, help: str = "Do something else.") -> dict[str, str]:
    return {"error": message, "code": code, "help": help}


def _is_reply(reply: object) -> bool:
    return isinstance(reply, tuple) and len(reply) == 2 and isinstance(reply[0], int)


def _handler(daemon: FakeDaemon) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length)
            target = urlsplit(self.path)
            request = Request(
                self.command,
                target.path,
                parse_qs(target.query, keep_blank_values=True),
                dict(self.headers),
                json.loads(content) if content else None,
            )
            status, body = daemon.reply_to(request)
            if isinstance(body, LiveStream):
                self.pour(body)
                return
            payload = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def pour(self, stream: LiveStream) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.end_headers()
            try:
                for piece in stream:
                    self.wfile.write(piece)
            except OSError:
                stream.abandoned.set()
            self.close_connection = True

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 - names that http.server looks for

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: a test reads `requests` instead."""

    return Handler


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Pipe(io.StringIO):
    """A text stream that is none."""

    encoding = "utf-8"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Runs commands in this process, in an environment of its own."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ

    def run(self, command: type[ConsoleCommand], *words: str, terminal: bool = False, stdin: str = "") -> Outcome:
        """Runs a command; with `terminal` all three streams are one, otherwise pipes."""
        kind = Terminal if terminal else Pipe
        streams = Streams(kind(stdin), kind(), kind())
        code = command().invoke(list(words), streams, self.environ)
        return Outcome(code, streams.stdout.getvalue(), streams.stderr.getvalue())  # type: ignore[attr-defined]


def job(status: str = "queued", **values: Any) -> dict[str, Any]:
    """A job as the daemon answers it."""
    record: dict[str, Any] = {
        "id": JOB_ID,
        "kind": {"type": "demo", "steps": 5},
        "status": status,
        "priority": 50,
        "created_at": "2026-03-01T12:00:00.000000000Z",
        "started_at": None,
        "completed_at": None,
        "requested_by": "cli",
        "progress": {"current": 0, "total": None, "message": None},
        "attempt": 0,
        "recovery_attempts": 0,
        "max_attempts": 3,
        "checkpoint": {},
        "result": None,
        "error": None,
        "lease_owner": None,
        "lease_expires_at": None,
        "pause_requested": False,
        "cancel_requested": False,
    }
    return record | values


def mined(documents: int = 3, *, truncated: bool = False, **values: Any) -> dict[str, Any]:
    """The result of a mine job."""
    result: dict[str, Any] = {
        "source": "directory",
        "documents": documents,
        "created": documents,
        "superseded": 0,
        "retired": 0,
        "unchanged": 0,
        "skipped": 0,
        "skipped_by_reason": {},
        "skipped_examples": [],
        "missing": 0,
        "missing_examples": [],
        "truncated": truncated,
    }
    return result | values
