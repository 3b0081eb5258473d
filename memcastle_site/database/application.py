"""The endpoint as an ASGI application: who may come in, its few HTTP routes, and the way to the WebSocket."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Collection
from typing import Any

from memcastle_site.database.consumer import DatabaseConsumer
from memcastle_site.database.credentials import Credentials
from memcastle_site.database.dialogue import Dialogue
from memcastle_site.errors import (
    HostRefused,
    MethodNotAllowed,
    OriginRefused,
    RouteNotFound,
    ServerFailed,
    ShuttingDown,
    Unauthorized,
)
from memcastle_site.gate.answers import Headers, refusal, secured
from memcastle_site.gate.hosts import Origin, host_allowed, parse_authority, parse_origin
from palace.errors import MemCastleError
from palace.store.sessions import SessionHost

MAX_CONNECTIONS = 8
RPC_PATH = "/rpc"
STUDIO_ORIGIN = "app://surrealdb-studio"
_LOCAL_SCHEMES = ("http", "https", "tauri")
_SHOWN_CHARACTERS = 100

logger = logging.getLogger("memcastle.database")


def normal_origin(text: str) -> str:
    """An origin as it is compared: in lower case, without a slash at its end."""
    return text.strip().rstrip("/").lower()


def origin_accepted(text: str, allowed: Collection[str]) -> bool:
    """Whether a page of this origin may use the endpoint: one of this machine, the Studio, or one that was allowed."""
    normal = normal_origin(text)
    if normal in allowed or normal == STUDIO_ORIGIN:
        return True
    origin = parse_origin(normal)
    return origin is not None and origin.scheme in _LOCAL_SCHEMES and _is_loopback(origin)


def _is_loopback(origin: Origin) -> bool:
    host = origin.authority.host
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Endpoint:
    """The application of one listener. `allowed_origins` holds normal origins."""

    def __init__(
        self,
        host: SessionHost,
        credentials: Credentials,
        version: str,
        *,
        allowed_hosts: Collection[str],
        allowed_origins: Collection[str],
    ) -> None:
        self.host = host
        self.credentials = credentials
        self.dialogues: set[Dialogue] = set()
        self.stopping = False
        self._version = version
        self._allowed_hosts = allowed_hosts
        self._allowed_origins = allowed_origins
        self._connections = 0
        self._consumer: Any = DatabaseConsumer.as_asgi()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = _headers(scope)
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send, headers)
            return
        try:
            origin = self._checked(headers)
            status, answer, body = self._answered(scope["method"], scope["path"], origin, headers)
        except MemCastleError as error:
            _log(error)
            status, answer, body = refusal(error, scope["path"])
        await send({"type": "http.response.start", "status": status, "headers": secured(answer)})
        await send({"type": "http.response.body", "body": body})

    async def _socket(self, scope: Any, receive: Any, send: Any, headers: dict[str, list[str]]) -> None:
        if self._connections >= MAX_CONNECTIONS:
            text = f"{MAX_CONNECTIONS} connections are open already; close one\n".encode()
            await _deny(send, 503, [(b"content-type", b"text/plain; charset=utf-8")], text)
            return
        self._connections += 1
        try:
            try:
                self._checked(headers)
                if scope["path"] != RPC_PATH:
                    raise RouteNotFound(f"there is no WebSocket at {scope['path']}", help=f"It is at {RPC_PATH}.")
                vouched = await self._vouched(headers)
            except MemCastleError as error:
                _log(error)
                status, answer, body = refusal(error, RPC_PATH)
                await _deny(send, status, answer, body)
                return
            await self._consumer({**scope, "endpoint": self, "vouched": vouched}, receive, send)
        finally:
            self._connections -= 1

    def _checked(self, headers: dict[str, list[str]]) -> str | None:
        """The origin, once host and origin have been accepted."""
        if self.stopping:
            raise ShuttingDown("the database endpoint is closing")
        hosts = headers.get("host", [])
        host = parse_authority(hosts[0]) if len(hosts) == 1 else None
        if host is None or not host_allowed(host, self._allowed_hosts):
            raise HostRefused(f"this daemon does not answer for the host {_shortened(', '.join(hosts))}")
        origins = headers.get("origin", [])
        if not origins:
            return None
        if len(origins) > 1 or not origin_accepted(origins[0], self._allowed_origins):
            raise OriginRefused(
                f"a page of the origin {_shortened(', '.join(origins))} asked for the database",
                help="List the origin in db.allowed_origins, or name it when the endpoint is opened.",
            )
        return origins[0]

    def _answered(
        self, method: str, path: str, origin: str | None, headers: dict[str, list[str]]
    ) -> tuple[int, Headers, bytes]:
        allowed: Headers = [(b"vary", b"Origin")]
        if origin is not None:
            allowed.append((b"access-control-allow-origin", origin.encode("latin-1")))
        if method == "OPTIONS":
            requested = ", ".join(headers.get("access-control-request-headers", [])) or "*"
            allowed.append((b"access-control-allow-methods", b"GET, OPTIONS"))
            allowed.append((b"access-control-allow-headers", requested.encode("latin-1")))
            return 204, allowed, b""
        bodies = {"/health": "", "/version": self._version}
        if path not in (*bodies, RPC_PATH):
            raise RouteNotFound(f"there is no route {path}", help="The endpoint has /health, /version and /rpc.")
        if method != "GET":
            raise MethodNotAllowed(f"{method} is not a method of {path}; it takes GET", allowed=("GET", "OPTIONS"))
        if path == RPC_PATH:
            text = b"this route speaks the WebSocket protocol only\n"
            return 426, [*allowed, (b"upgrade", b"websocket"), (b"content-type", b"text/plain; charset=utf-8")], text
        body = bodies[path].encode()
        return 200, [*allowed, (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))], body

    async def _vouched(self, headers: dict[str, list[str]]) -> bool:
        """Whether the upgrade itself held the token. Raises Unauthorized when it held something else."""
        given = headers.get("authorization", [])
        if not given:
            return False
        if len(given) > 1 or not await self.credentials.check_header(given[0]):
            raise Unauthorized("the bearer token is invalid")
        return True


async def _deny(send: Callable[[Any], Any], status: int, headers: Headers, body: bytes) -> None:
    headers = [(name, value) for name, value in headers if name not in (b"content-length", b"connection")]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


def _headers(scope: Any) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _log(error: MemCastleError) -> None:
    level = logging.ERROR if isinstance(error, ServerFailed) or error.status == 500 else logging.WARNING
    extra = {"code": error.code, "status": error.status}
    if isinstance(error, OriginRefused | HostRefused):
        extra["reason"] = error.message
    logger.log(level, "database endpoint refused a request", extra=extra)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
