"""The listener of the endpoint: opened on request, at most one, closed with the daemon at the latest."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import ipaddress
import logging
from collections.abc import Collection
from dataclasses import dataclass

import cbor2

from memcastle_site.daemon import front
from memcastle_site.daemon.sockets import address_text, bind
from memcastle_site.database.application import Endpoint
from memcastle_site.database.credentials import Credentials
from palace.clock import now
from palace.domain.clock import Timestamp
from palace.errors import StoreFailed
from palace.store import Store
from palace.store.sessions import SessionHost

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
INTERRUPT_SECONDS = 1.0
GOODBYE_SECONDS = 1.0
"""What a stop waits for, beside the three seconds that a front may take to cut off whoever does not answer."""

logger = logging.getLogger("memcastle.database")


@dataclass(frozen=True, slots=True)
class Listener:
    """An open endpoint. `bind` is as asked for, `ip` and `port` are what it listens on."""

    bind: str
    ip: str
    port: int
    origins: frozenset[str]
    started_at: Timestamp
    server: front.Front
    endpoint: Endpoint

    @property
    def address(self) -> str:
        return address_text(self.ip, self.port)

    @property
    def remote(self) -> bool:
        """Whether other machines can reach it."""
        return not ipaddress.ip_address(self.ip).is_loopback


async def open_listener(
    store: Store,
    credentials: Credentials,
    ip: str,
    port: int,
    *,
    origins: Collection[str],
    allowed_hosts: Collection[str],
) -> Listener:
    """Listens on `ip` and `port`. Raises BindFailed, or StoreFailed when the database admits no further session."""
    sock = bind(ip, port)
    host: SessionHost | None = None
    try:
        host = await SessionHost.open(store)
        allowed = frozenset(origins)
        endpoint = Endpoint(host, credentials, await _version(host), allowed_hosts=allowed_hosts, allowed_origins=allowed)
        server = front.Front(endpoint, max_message=MAX_MESSAGE_BYTES)
        # What the connections log must not carry the id of the request that opened the endpoint.
        opening = asyncio.create_task(server.open(sock), context=contextvars.Context())
        bound_ip, bound_port = await opening
    except BaseException:
        sock.close()
        if host is not None:
            await host.close()
        raise
    listener = Listener(ip, bound_ip, bound_port, allowed, now(), server, endpoint)
    logger.info("database endpoint opened", extra={"bind": listener.address, "auth": credentials.required})
    if listener.remote:
        logger.warning(
            "the database endpoint listens beyond loopback; tokens and data cross the network unencrypted",
            extra={"bind": listener.address},
        )
    return listener


async def close_listener(listener: Listener) -> None:
    """Interrupts every query, says goodbye to every client and stops listening; takes at most 5 seconds."""
    listener.endpoint.stopping = True
    closing = [asyncio.create_task(dialogue.close()) for dialogue in list(listener.endpoint.dialogues)]
    if closing:
        await asyncio.wait(closing, timeout=INTERRUPT_SECONDS)
    await listener.server.close(GOODBYE_SECONDS)
    with contextlib.suppress(StoreFailed):
        await listener.endpoint.host.close()
    logger.info("database endpoint closed", extra={"bind": listener.address})


async def _version(host: SessionHost) -> str:
    session = await host.open_session()
    try:
        reply = await session.call("version")
    finally:
        await session.close()
    return str(cbor2.loads(reply.value)) if reply.ok else "surrealdb-unknown"
