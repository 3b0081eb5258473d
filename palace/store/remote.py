"""A palace on a database server: one signed-in connection, made anew whenever it breaks.

The SDK would quietly open another socket for a query that finds the old one dead, and that session would be signed in as
nobody. So the SDK's object is used for one connection only and is given up with it; another one takes its place in the
background. A query is repeated in two cases, where that cannot do a thing twice: it reads only, or the server refused
it because the session had ended. Of any other that was under way nobody can tell whether the server carried it out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from palace.errors import MemCastleError, StoreFailed
from palace.store.connection import Store, limited

logger = logging.getLogger("memcastle.store")

CONNECT_SECONDS = 5.0
"""How long opening the connection, signing in and choosing the database may take together."""
WAIT_SECONDS = 2.0
"""How long after the end of a connection queries wait for the next one."""
SHORT_WAIT_SECONDS = 0.25
"""How long they wait from then on: whoever asks should hear soon that the server is away."""
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 3.0
BEAT_SECONDS = 5.0
"""How often the server is asked for a sign of life."""
SILENCE_SECONDS = 15.0
"""How long it may take to give one; a large answer on the way delays it."""
GOODBYE_SECONDS = 0.5

READ_TRIES = 3
"""How many connections may break under a query that only reads."""
TOO_LARGE = 1009
"""The close code of a server that was sent a larger message than it takes."""
LARGE = 1024 * 1024
"""Every server takes smaller messages than this, so a query below it was not the one that a server refused as too large."""

_READING = re.compile(r"\s*(?:(?:INFO|LET|RETURN|SELECT|SHOW)\b|\{)", re.IGNORECASE)
_WRITING = re.compile(
    r"\b(?:ALTER|BEGIN|CREATE|DEFINE|DELETE|INSERT|KILL|LIVE|REBUILD|RELATE|REMOVE|UPDATE|UPSERT|USE)\b|::|\bfunction\b",
    re.IGNORECASE,
)
_HARMLESS_CALLS = re.compile(r"\b(?:array|count|encoding|math|object|record|search|string|time|type)::", re.IGNORECASE)
_USERINFO = re.compile(r"^([a-z]+://)[^/?#]*@", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Server:
    """Where a palace is and how to get in. `query_seconds` is the time limit of every query."""

    url: str = field(repr=False)
    namespace: str
    database: str
    username: str
    password: str = field(repr=False)
    query_seconds: float

    @property
    def location(self) -> str:
        """The URL without user and password."""
        return without_userinfo(self.url)


class StoreUnreachable(StoreFailed):
    """The database server cannot be reached, or the connection broke under a query."""

    status = 503
    help = (
        "Check that the database server runs and that store.url, store.username and store.password are right. "
        "The daemon connects by itself as soon as the server answers."
    )


class SignInRefused(StoreUnreachable):
    """The database server does not accept the user or the password."""

    help = "Correct store.username and store.password; the user must be one of the server's root users."


def without_userinfo(url: str) -> str:
    """The URL as it may be shown."""
    return _USERINFO.sub(r"\1", url)


def reads_only(sql: str) -> bool:
    """Whether a query surely changes nothing. Some that change nothing are not recognised."""
    text = _HARMLESS_CALLS.sub("", sql)
    return _READING.match(text) is not None and _WRITING.search(text) is None


async def open_remote(server: Server, *, patience: float = 0.0) -> Store:
    """Connects to a palace on a server; namespace and database are made when missing.

    A server that cannot be reached is tried again for `patience` seconds, one that refuses the sign-in is not.
    Raises SignInRefused, or StoreUnreachable.
    """
    connection = RemoteConnection(server)
    await connection.open(patience)
    return Store(connection, server.location, "remote")


class RemoteConnection:
    """Answers queries over the connection of the moment. Belongs to one event loop."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._link: Any = None
        self._up = asyncio.Event()
        self._closed = False
        self._reason = "it has not been reached yet"
        self._lost_at = 0.0
        self._keeper: asyncio.Task[None] | None = None
        self._beats: asyncio.Task[None] | None = None

    async def open(self, patience: float) -> None:
        """Makes the first connection."""
        deadline = time.monotonic() + patience
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                self._adopt(await self._connected())
            except SignInRefused:
                raise
            except StoreUnreachable as error:
                if time.monotonic() + pause > deadline:
                    raise
                self._note(error)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            else:
                return

    async def query_raw(self, sql: str, variables: dict[str, Any]) -> Mapping[str, Any]:
        """The server's answer, of the same form and types as that of an embedded database.

        Raises StoreUnreachable without a connection, and StoreFailed at the time limit.
        """
        limit = self._server.query_seconds if limited() else None
        try:
            async with asyncio.timeout(limit) as timer:
                return await self._asked(sql, variables)
        except TimeoutError as error:
            if not timer.expired():
                raise
            raise StoreFailed(
                f"the database did not answer within {limit:g} s",
                help="The server may still carry it out, so look before you repeat it. "
                "store.query_timeout_secs is the limit; the server's load is the usual cause.",
            ) from error

    async def _asked(self, sql: str, variables: dict[str, Any]) -> Mapping[str, Any]:
        from surrealdb.errors import TransportError

        tries = READ_TRIES if reads_only(sql) else 1
        refused_before = False
        while True:
            link = await self._ready()
            try:
                answer: Mapping[str, Any] = await link.query_raw(sql, variables)
            except TransportError as error:
                self._lose(link, _farewell(link))
                if _close_code(link) == TOO_LARGE and (size := _bulk(variables)) >= LARGE:
                    raise _too_large(size) from error
                tries -= 1
                if not tries:
                    raise StoreUnreachable(
                        f"the connection to the database broke before it answered: {self._reason}",
                        help="The server may have carried it out, so look before you repeat it. "
                        "The daemon connects again by itself.",
                    ) from error
                continue
            if refused_before or not _signed_out(answer):
                return answer
            # Refused as a whole, so nothing was done. The new connection signs in again.
            refused_before = True
            self._lose(link, "the session had ended")

    async def _ready(self) -> Any:
        """The live connection, waited for if need be."""
        if self._link is not None and self._link.recv_task.done():
            self._lose(self._link, _farewell(self._link))
        if self._link is None and not self._closed:
            away = time.monotonic() - self._lost_at
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(SHORT_WAIT_SECONDS, WAIT_SECONDS - away)):
                    await self._up.wait()
        if self._link is None:
            raise StoreUnreachable(f"the database at {self._server.location} cannot be reached: {self._reason}")
        return self._link

    async def _connected(self) -> Any:
        """A new connection, signed in and at the palace's database."""
        from surrealdb import AsyncSurreal
        from surrealdb.connections import async_ws
        from surrealdb.errors import NotAllowedError, SurrealError

        # The SDK gives every request thirty seconds; the limit here is ours.
        async_ws._RPC_RECV_TIMEOUT = None
        # Answers in one piece: a stream costs further frames and brings nothing that is read whole anyway.
        link: Any = AsyncSurreal(self._server.url, streaming=False, ping_interval=None)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await link.connect()
                try:
                    await link.signin({"username": self._server.username, "password": self._server.password})
                except NotAllowedError as error:
                    raise SignInRefused(
                        f"the database at {self._server.location} refused the sign-in of {self._server.username!r}"
                    ) from error
                await link.use(self._server.namespace, self._server.database)
        except BaseException as error:
            _abandon(link)
            if isinstance(error, (TimeoutError, SurrealError, OSError, ValueError)):
                reason = self._cleaned(_said(error)) or f"it did not answer within {CONNECT_SECONDS:g} s"
                raise StoreUnreachable(f"the database at {self._server.location} cannot be reached: {reason}") from error
            raise
        return link

    def _adopt(self, link: Any) -> None:
        self._link = link
        self._up.set()
        link.recv_task.add_done_callback(lambda _: self._lose(link, _farewell(link)))
        self._beats = asyncio.create_task(self._beat(link), name="database heartbeat")

    def _lose(self, link: Any, reason: str) -> None:
        """Gives up a connection, once, and begins to make another."""
        if self._link is not link:
            return
        self._link, self._reason, self._lost_at = None, self._cleaned(reason), time.monotonic()
        self._up.clear()
        if self._beats is not None and self._beats is not asyncio.current_task():
            self._beats.cancel()
        _abandon(link)
        if not self._closed:
            logger.warning("connection to the database lost", extra={"reason": self._reason})
            self._keeper = asyncio.create_task(self._reconnect(), name="database connection")

    async def _reconnect(self) -> None:
        """Tries until there is a connection again; a refused sign-in too may be a server that is not ready."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                link = await self._connected()
            except MemCastleError as error:
                self._note(error)
            except Exception as error:
                logger.exception("the connection to the database could not be made")
                self._reason = f"{type(error).__name__}"
            else:
                away = round((time.monotonic() - self._lost_at) * 1000)
                logger.info("connected to the database again", extra={"away_ms": away})
                self._adopt(link)
                return
            # Many daemons lose a server at the same moment and must not come back at the same moment.
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def _note(self, error: MemCastleError) -> None:
        reason = error.message.removeprefix(f"the database at {self._server.location} cannot be reached: ")
        if reason != self._reason:
            logger.warning("the database cannot be reached", extra={"reason": reason})
        self._reason = reason

    async def _beat(self, link: Any) -> None:
        """Finds out that a server is gone which did not say so, or a network that swallows everything."""
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    await (await link.socket.ping())
            except TimeoutError:
                self._lose(link, f"the server gave no sign of life for {SILENCE_SECONDS:g} s")
                return
            except Exception:
                self._lose(link, _farewell(link))
                return

    def _cleaned(self, text: str) -> str:
        """The text without the address, which may hold a password."""
        address = self._server.url.rstrip("/")
        for shown in (f"{address}/rpc", address):
            text = text.replace(shown, self._server.location)
        return text.removeprefix(f"could not connect to {self._server.location}: ")

    async def close(self) -> None:
        """Ends the connection, at once when the server does not answer."""
        self._closed = True
        self._up.set()
        link, self._link = self._link, None
        self._reason = "the palace is closed"
        for task in (self._keeper, self._beats):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        if link is None:
            return
        transport = getattr(link.socket, "transport", None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                await link.close()
        if transport is not None:
            transport.abort()


def _abandon(link: Any) -> None:
    """Ends a connection without waiting; whoever still waits for an answer is told."""
    if link.recv_task is not None:
        link.recv_task.cancel()
    transport = getattr(link.socket, "transport", None)
    if transport is not None:
        transport.abort()


def _close_code(link: Any) -> int | None:
    code: int | None = getattr(link.socket, "close_code", None)
    return code


def _bulk(value: Any) -> int:
    """About how many bytes a value has on the way."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_bulk(item) for item in value.values())
    return sum(_bulk(item) for item in value) if isinstance(value, list | tuple) else 8


def _too_large(size: int) -> StoreFailed:
    """To be told apart from a server that is away: the same query would break the next connection too."""
    return StoreFailed(
        f"a query of about {size // LARGE} MiB is larger than the database server takes",
        help="Nothing was written. Raise the server's limit (SURREAL_WEBSOCKET_MAX_MESSAGE_SIZE), "
        "or lower mining.max_file_bytes.",
    )


def _farewell(link: Any) -> str:
    """Why a connection ended, as far as the server said so."""
    code = _close_code(link)
    if code == TOO_LARGE:
        return "a query was larger than the server takes"
    return "it broke off" if code in (None, 1006) else f"the server closed it (code {code})"


def _signed_out(answer: Mapping[str, Any]) -> bool:
    """Whether the server refused a request because nobody is signed in (any more)."""
    error = answer.get("error")
    return isinstance(error, Mapping) and error.get("kind") == "NotAllowed"


def _said(error: BaseException) -> str:
    return str(error).strip()
