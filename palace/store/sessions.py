"""Sessions of the engine beside the store's own: each with a namespace, a database, variables and a sign-in of its own.

The engine gives a new session to nobody: whoever uses it has to sign in. So a host keeps a user of its own in the
database for as long as it is open, with a password that is never told. Requests and answers are CBOR, passed on as they
are, so clients meet the engine's own values and errors.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from palace.errors import StoreFailed
from palace.store.connection import DATABASE, NAMESPACE, Store

USER = "memcastle_endpoint"
DEFINE = "DEFINE USER OVERWRITE {user} ON ROOT PASSWORD '{password}' ROLES OWNER DURATION FOR TOKEN 520w, FOR SESSION NONE;"
REMOVE = "REMOVE USER IF EXISTS {user} ON ROOT;"

TURN_PATIENCE_SECONDS = 2.0
"""How long a write of a client waits for those of the daemon, before it runs beside them."""
TURN_HOLD_SECONDS = 5.0
"""How long a write of a client keeps those of the daemon waiting; a longer one goes on beside them."""
LONG_TEXT = 64 * 1024

NONE = b"\xc6\xf6"
"""SurrealDB's NONE as CBOR."""

_ID = b"bid\x00"
_RESULT = b"\xa3" + _ID + b"fresult"
_ERROR = b"\xa3eerror"
_SESSION = b"gsession\xd8\x25\x50"
_WRITES = re.compile(r"\b(?:BEGIN|CREATE|DELETE|INSERT|RELATE|UPDATE|UPSERT)\b", re.IGNORECASE)
WRITING_METHODS = frozenset(
    {"create", "insert", "insert_relation", "update", "upsert", "merge", "patch", "delete", "relate", "run"},
)

Execute = Callable[[bytes], Awaitable[bytes]]


class RequestUnreadable(Exception):
    """The engine could not make sense of the request as a whole; the text says why."""


class AnswerUnwritable(Exception):
    """The engine answered with a value that its protocol has no form for, such as a regular expression."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a request was answered with: the result, or the error object, as CBOR."""

    ok: bool
    value: bytes


def text(value: str) -> bytes:
    """A string as CBOR."""
    encoded = value.encode()
    return _head(0x60, len(encoded)) + encoded


def array(*items: bytes) -> bytes:
    """An array of encoded items as CBOR."""
    return _head(0x80, len(items)) + b"".join(items)


def _head(major: int, argument: int) -> bytes:
    for limit, info, size in ((24, argument, 0), (1 << 8, 24, 1), (1 << 16, 25, 2), (1 << 32, 26, 4)):
        if argument < limit:
            return bytes([major | info]) + (argument.to_bytes(size, "big") if size else b"")
    return bytes([major | 27]) + argument.to_bytes(8, "big")


class EngineSession:
    """One session, open until `close`. Made by `SessionHost.open_session`."""

    def __init__(self, store: Store, execute: Execute, sign_in: Callable[[EngineSession], Awaitable[None]]) -> None:
        self._store = store
        self._execute = execute
        self._sign_in = sign_in
        self._identity = uuid.uuid4().bytes

    async def open(self) -> None:
        """Starts the session in the palace's namespace and database, signed in as nobody."""
        _succeeded(await self.call("attach"), "opened")
        _succeeded(await self.call("use", array(text(NAMESPACE), text(DATABASE))), "led to the palace")

    async def sign_in(self) -> None:
        """Gives the session every right on the database. Raises StoreFailed."""
        await self._sign_in(self)

    async def call(self, method: str, params: bytes = b"\x80") -> Reply:
        """One request; `params` is a CBOR array. A request that is cancelled is interrupted in the engine.

        Raises RequestUnreadable, AnswerUnwritable, or StoreFailed when the engine cannot be reached.
        """
        tail = _SESSION + self._identity
        request = b"\xa4" + _ID + b"fmethod" + text(method) + b"fparams" + params + tail
        try:
            answer = await self._execute(request)
        except ValueError as error:
            reason = str(error)
            raise (AnswerUnwritable if reason.startswith("Failed to encode") else RequestUnreadable)(reason) from error
        except RuntimeError as error:
            raise StoreFailed(f"the database did not answer: {error}") from error
        if answer.startswith(_RESULT) and answer.endswith(tail):
            return Reply(True, answer[len(_RESULT) : -len(tail)])
        if answer.startswith(_ERROR) and answer.endswith(_ID + tail):
            return Reply(False, answer[len(_ERROR) : -len(_ID + tail)])
        raise StoreFailed("the database answered in a form that this version does not know")

    async def run(self, method: str, params: bytes, sql: str | None = None) -> Reply:
        """As `call`, for a request that may read or write data; `sql` is the text of a query.

        What writes takes its turn among the daemon's own transactions. Both waits are bounded: a client must neither
        starve behind a long transaction nor hold up the daemon with one.
        """
        try:
            writes = method in WRITING_METHODS or (sql is not None and may_write(sql))
            return await (self._in_turn if writes else self.call)(method, params)
        finally:
            # Another daemon may have written through this session.
            self._store.news.set()

    async def _in_turn(self, method: str, params: bytes) -> Reply:
        running: asyncio.Task[Reply] | None = None
        try:
            async with self._store.turn(TURN_PATIENCE_SECONDS):
                running = asyncio.create_task(self.call(method, params))
                await asyncio.wait({running}, timeout=TURN_HOLD_SECONDS)
            return await running
        finally:
            if running is not None:
                running.cancel()

    async def close(self) -> None:
        """Ends the session; what still runs in it goes on unless it was cancelled."""
        with suppress(StoreFailed, RequestUnreadable):
            await self.call("detach")


def may_write(sql: str) -> bool:
    """Whether a query seems to write. A read that is taken for a write only waits for a moment."""
    return len(sql) > LONG_TEXT or _WRITES.search(sql) is not None


class SessionHost:
    """Opens sessions over the store's handle. Made by `open`, ended by `close`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._execute = store.engine()
        self._token: bytes | None = None
        self._settling = asyncio.Lock()

    @classmethod
    async def open(cls, store: Store) -> SessionHost:
        """Raises StoreFailed, also for a store that holds no database of its own."""
        host = cls(store)
        await host._settle()
        return host

    async def open_session(self) -> EngineSession:
        """A new session that may do nothing yet. Raises StoreFailed."""
        session = EngineSession(self._store, self._execute, self._admit)
        try:
            await session.open()
        except BaseException:
            await session.close()
            raise
        return session

    async def close(self) -> None:
        """Removes the host's user; sessions that are still open keep their rights until they close."""
        self._token = None
        await self._store.query(REMOVE.format(user=USER))

    async def _admit(self, session: EngineSession) -> None:
        token = self._token
        if token is None or not (await session.call("authenticate", array(token))).ok:
            # A client may do everything: it may have removed the user that sessions are signed in as.
            async with self._settling:
                if token is self._token:
                    await self._settle()
            assert self._token is not None
            _succeeded(await session.call("authenticate", array(self._token)), "signed in")

    async def _settle(self) -> None:
        """Defines the user with a new password and keeps a token of its, since a password costs 40 ms to check."""
        password = secrets.token_hex(32)
        await self._store.query(DEFINE.format(user=USER, password=password))
        session = await self.open_session()
        try:
            credentials = b"\xa2" + text("user") + text(USER) + text("pass") + text(password)
            reply = await session.call("signin", array(credentials))
            _succeeded(reply, "signed in")
            self._token = reply.value
        finally:
            await session.close()


def _succeeded(reply: Reply, what: str) -> None:
    if not reply.ok:
        raise StoreFailed(f"a session of the database could not be {what}")
