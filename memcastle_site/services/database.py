"""The database endpoint: opening it, closing it, telling whether it is open."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memcastle_site.conf import AuthConfig, DatabaseConfig, ServerConfig
from memcastle_site.errors import BindFailed, DatabaseAlreadyRunning, DatabaseBindFailed, DatabaseUnavailable, UnsafeBind
from memcastle_site.services.auth import authenticate
from palace.configuration import current as configured
from palace.errors import InvalidInput
from palace.store import current
from palace.store.connection import DATABASE, NAMESPACE

if TYPE_CHECKING:
    from memcastle_site.database.listener import Listener

USER = "memcastle"
LARGEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Opening:
    """What the caller asks for; None leaves it to the configuration."""

    bind: str | None = None
    port: int | None = None
    allow_remote: bool | None = None
    allowed_origins: Sequence[str] = ()


_listener: Listener | None = None
_deciding = asyncio.Lock()


async def open_database(opening: Opening) -> dict[str, Any]:
    """Opens the endpoint and describes it; when one is open that fits, that one is described.

    Raises DatabaseUnavailable, DatabaseAlreadyRunning, UnsafeBind, DatabaseBindFailed, or InvalidInput.
    """
    from memcastle_site.database.application import normal_origin
    from memcastle_site.database.credentials import Credentials
    from memcastle_site.database.listener import open_listener

    global _listener
    config, auth = configured(DatabaseConfig), configured(AuthConfig)
    _check(opening)
    asked = frozenset(map(normal_origin, opening.allowed_origins))
    async with _deciding:
        store = current()
        if store.backend != "embedded":
            raise DatabaseUnavailable("the palace is on a remote database, which has an endpoint of its own")
        if _listener is not None:
            _require_compatible(_listener, opening, asked)
            return _described(_listener, already_running=True)
        ip = str(ipaddress.ip_address(opening.bind or config.bind))
        if not ipaddress.ip_address(ip).is_loopback:
            _require_safe(ip, allowed=config.allow_remote if opening.allow_remote is None else opening.allow_remote)
        try:
            _listener = await open_listener(
                store,
                Credentials(authenticate if auth.enabled else None),
                ip,
                config.port if opening.port is None else opening.port,
                origins=asked.union(map(normal_origin, config.allowed_origins)),
                allowed_hosts=configured(ServerConfig).allowed_hosts,
            )
        except BindFailed as error:
            help = error.help.replace("--port", "port (db start --port)").replace("--bind", "bind (db start --bind)")
            raise DatabaseBindFailed(error.message, help=help) from error
        return _described(_listener)


async def close_database() -> dict[str, Any]:
    """Closes the endpoint with all its connections; does nothing when it is not open."""
    global _listener
    async with _deciding:
        listener, _listener = _listener, None
        if listener is not None:
            from memcastle_site.database.listener import close_listener

            await close_listener(listener)
        return _described(None)


def database_status() -> dict[str, Any]:
    """Whether the endpoint is open, and where."""
    return _described(_listener)


def _check(opening: Opening) -> None:
    if opening.bind is not None:
        try:
            ipaddress.ip_address(opening.bind)
        except ValueError:
            raise InvalidInput("bind", "it must be an IPv4 or IPv6 address such as 127.0.0.1 or ::1") from None
    if opening.port is not None and not 0 <= opening.port <= LARGEST_PORT:
        raise InvalidInput("port", f"it must be between 0 and {LARGEST_PORT}")
    if any(not origin.strip() for origin in opening.allowed_origins):
        raise InvalidInput("allowed_origins", "an origin must not be empty")


def _require_compatible(listener: Listener, opening: Opening, asked: frozenset[str]) -> None:
    differences = []
    if opening.bind is not None and str(ipaddress.ip_address(opening.bind)) != listener.bind:
        differences.append("another address")
    if opening.port not in (None, 0, listener.port):
        differences.append("another port")
    if not asked <= listener.origins:
        differences.append("further origins")
    if differences:
        raise DatabaseAlreadyRunning(f"the endpoint is open on {listener.address}; asked for were {', '.join(differences)}")


def _require_safe(ip: str, *, allowed: bool) -> None:
    if not allowed:
        raise UnsafeBind(f"{ip} can be reached from other machines, which was not allowed")
    if not configured(AuthConfig).enabled:
        raise UnsafeBind(f"{ip} can be reached from other machines, and authentication is off")


def _described(listener: Listener | None, *, already_running: bool = False) -> dict[str, Any]:
    return {
        "running": listener is not None,
        "addr": listener.address if listener else None,
        "url": f"ws://{listener.address}" if listener else None,
        "namespace": NAMESPACE,
        "database": DATABASE,
        "user": USER,
        "remote": listener is not None and listener.remote,
        "auth_required": configured(AuthConfig).enabled,
        "started_at": listener.started_at if listener else None,
        "already_running": already_running,
    }
