"""The gate: an ASGI application around another one.

A request is checked in this order: is the daemon stopping, is it meant for this daemon (Host), does it come from a page
that may ask (Origin), does it hold the token, is its body of a bearable size. Only then does the inner application see it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from memcastle_site.errors import HostRefused, OriginRefused, ServerFailed, ShuttingDown, Unauthorized
from memcastle_site.gate.answers import refusal, secured
from memcastle_site.gate.hosts import Authority, host_allowed, origin_allowed, parse_authority, parse_origin
from memcastle_site.logs import request_id
from palace.domain.ids import new_id
from palace.errors import InvalidInput, MemCastleError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

Authenticator = Callable[[str | None], Awaitable[None]]
"""Judges the text of the Authorization header (None when there is none).

It raises Unauthorized to refuse; another MemCastleError when it cannot tell, which refuses the request as well.
"""

MAX_API_BODY = 2 * 1024 * 1024
HEALTH_PATH = "/api/health"
_MAX_REQUEST_ID = 128

logger = logging.getLogger("memcastle.gate")


def bearer_token(authorization: str | None) -> str:
    """The token of an Authorization header. Raises Unauthorized, saying `missing` or `malformed`."""
    if authorization is None:
        raise Unauthorized("the bearer token is missing")
    scheme, separator, token = authorization.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not separator or not token:
        raise Unauthorized("the bearer token is malformed")
    return token


@dataclass(frozen=True, slots=True)
class _Request:
    """The head of a request, as far as the gate reads it."""

    method: str
    path: str
    headers: Mapping[bytes, list[bytes]]

    @classmethod
    def of(cls, scope: Scope) -> _Request:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        return cls(scope["method"], scope["path"], headers)

    def all(self, name: bytes) -> list[str | None]:
        """Every value of a header; None for one that is not ASCII text."""
        return [value.decode("ascii") if value.isascii() else None for value in self.headers.get(name, ())]

    @property
    def is_api(self) -> bool:
        return self.path == "/api" or self.path.startswith("/api/")


class _Answer:
    """The way out of one request: adds the headers that every answer has, and remembers how far the answer is."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status: int | None = None

    @property
    def started(self) -> bool:
        return self.status is not None

    async def __call__(self, message: Message) -> None:
        if message["type"] != "http.response.start":
            await self._send(message)
            return
        headers = [(name, value) for name, value in message.get("headers", ()) if name.lower() != b"x-request-id"]
        identified = [*headers, (b"x-request-id", self._request_id.encode("ascii"))]
        await self._send({**message, "headers": secured(identified)})
        self.status = message["status"]

    async def refuse(self, error: MemCastleError, path: str) -> None:
        status, headers, body = refusal(error, path)
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body})


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate before `app`.

    `allowed_hosts` and `allowed_origins` are the operator's, as `memcastle_site.conf` reads them. `authenticate` is None
    while authentication is off. `stopping` tells whether the daemon is draining. Files below `static_prefix` carry no
    data and need no token. `max_api_body` is the largest body accepted under `/api`, in bytes.
    """

    app: Application
    allowed_hosts: Collection[str] = ()
    allowed_origins: Collection[str] = ()
    authenticate: Authenticator | None = None
    stopping: Callable[[], bool] = lambda: False
    static_prefix: str = "/static/"
    max_api_body: int = MAX_API_BODY

    def __post_init__(self) -> None:
        if len(self.static_prefix) < 3 or not (self.static_prefix.startswith("/") and self.static_prefix.endswith("/")):
            raise ValueError(f"{self.static_prefix!r} is no path prefix such as /static/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._identified(scope, receive, send)
            case "websocket":
                await receive()
                await send({"type": "websocket.close", "code": 1008})
            case "lifespan":
                await _acknowledge_lifespan(receive, send)
            case other:
                raise ValueError(f"the gate passes no {other!r} connections")

    async def _identified(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers under a request id, and logs that it did."""
        request = _Request.of(scope)
        identity = _chosen_request_id(request)
        answer = _Answer(send, identity)
        token = request_id.set(identity)
        began = time.perf_counter()
        try:
            await self._answered(request, scope, receive, answer)
        finally:
            logger.debug(
                "request",
                extra={
                    "method": request.method,
                    "path": request.path,
                    "status": answer.status,
                    "ms": round((time.perf_counter() - began) * 1000, 3),
                },
            )
            request_id.reset(token)

    async def _answered(self, request: _Request, scope: Scope, receive: Receive, answer: _Answer) -> None:
        try:
            await self._check(request)
            # A root path moves the path the application routes by away from the path that was checked here.
            await self.app({**scope, "root_path": ""}, self._bounded(request, receive), answer)
            error: MemCastleError | None = None if answer.started else ServerFailed("the application gave no answer")
        except MemCastleError as raised:
            error = raised
        except Exception as raised:
            error = ServerFailed("the daemon failed to answer this request")
            error.__cause__ = raised
        if error is None:
            return
        _log(error)
        # An answer that has begun cannot be taken back: it ends here, unfinished, and the server cuts the connection.
        if not answer.started:
            await answer.refuse(error, request.path)

    async def _check(self, request: _Request) -> None:
        if self.stopping():
            raise ShuttingDown("the daemon is stopping")
        host = self._checked_host(request)
        self._check_origin(request, host)
        if self.authenticate is not None and not self._is_open(request):
            await self.authenticate(_authorization(request))
        if request.is_api:
            self._check_length(request)

    def _checked_host(self, request: _Request) -> Authority:
        given = request.all(b"host")
        if not given:
            raise HostRefused("the request has no Host header")
        if len(given) > 1:
            raise HostRefused("the request has more than one Host header")
        host = None if given[0] is None else parse_authority(given[0])
        if host is None or not host_allowed(host, self.allowed_hosts):
            raise HostRefused(f"this daemon does not answer for the host {_shortened(given[0])}")
        return host

    def _check_origin(self, request: _Request, host: Authority) -> None:
        given = request.all(b"origin")
        if not given:
            if request.method != "GET" and "cross-site" in request.all(b"sec-fetch-site"):
                raise OriginRefused("a page of another site sent the request")
            return
        origin = parse_origin(given[0]) if len(given) == 1 and given[0] is not None else None
        if origin is None or not origin_allowed(origin, host, self.allowed_origins):
            raise OriginRefused(f"a page of the origin {_shortened(given[0])} sent the request")

    def _is_open(self, request: _Request) -> bool:
        """Whether the request needs no token: the health check, and files that hold no memory."""
        if request.path == HEALTH_PATH:
            return request.method == "GET"
        return (
            request.method in ("GET", "HEAD")
            and request.path.startswith(self.static_prefix)
            and not {".", ".."}.intersection(request.path.split("/"))
        )

    def _check_length(self, request: _Request) -> None:
        for value in request.all(b"content-length"):
            if value is None or not value.isdigit():
                raise InvalidInput("body", "its Content-Length is no number")
            if len(value) > 18 or int(value) > self.max_api_body:
                raise self._too_large()

    def _bounded(self, request: _Request, receive: Receive) -> Receive:
        """`receive`, refusing a body that came without its length once it has become too large."""
        if not request.is_api:
            return receive
        seen = 0

        async def bounded() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.max_api_body:
                raise self._too_large()
            return message

        return bounded

    def _too_large(self) -> InvalidInput:
        return InvalidInput("body", f"it is larger than {self.max_api_body:,} bytes")


def _chosen_request_id(request: _Request) -> str:
    """The id the client chose, if it is a sane one, or a new one."""
    given = request.all(b"x-request-id")
    if len(given) == 1 and given[0] and len(given[0]) <= _MAX_REQUEST_ID and all("!" <= c <= "~" for c in given[0]):
        return given[0]
    return new_id()


def _authorization(request: _Request) -> str | None:
    given = request.all(b"authorization")
    if not given:
        return None
    if len(given) > 1 or given[0] is None:
        raise Unauthorized("the bearer token is malformed")
    return given[0]


def _shortened(text: str | None) -> str:
    if text is None:
        return "(not ASCII)"
    return repr(text if len(text) <= 100 else text[:99] + "…")


def _log(error: MemCastleError) -> None:
    details = {"code": error.code, "status": error.status}
    if error.status >= 500 and not isinstance(error, ShuttingDown):
        logger.error("request failed", extra=details, exc_info=error.__cause__)
    else:
        logger.warning("request refused", extra=details)


async def _acknowledge_lifespan(receive: Receive, send: Send) -> None:
    """The daemon starts and stops what it is made of itself, so there is nothing to do."""
    while (message := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{message['type']}.complete"})
    await send({"type": "lifespan.shutdown.complete"})
