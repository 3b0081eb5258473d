"""What one connection says and is answered: its sessions, its sign-ins, the methods it may use.

Requests of one session keep their order where it matters: what changes the session waits for the requests before it
and is waited for by those behind it; all others run side by side, as in the engine itself.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import cbor2

from memcastle_site.database import cbor, messages
from memcastle_site.database.cbor import Malformed
from memcastle_site.database.codecs import Codec
from memcastle_site.database.credentials import USER, Credentials
from memcastle_site.database.messages import Refused, Request
from palace.errors import MemCastleError
from palace.store.sessions import (
    NONE,
    AnswerUnwritable,
    EngineSession,
    Reply,
    RequestUnreadable,
    SessionHost,
    array,
    text,
)

REFUSED_TOO_OFTEN = 3000
FAILED = 4500
"""Close codes: too many refused sign-ins; an answer that could not be given."""
MAX_SESSIONS = 64
MAX_REFUSALS = 5
MAX_RUNNING = 64
"""Requests of one connection that are answered at the same time; further ones wait unread."""
REFUSAL_SECONDS = 0.25
SMALL_PARAMS = 64 * 1024

DATA_METHODS = frozenset(
    {
        *("query", "select", "create", "insert", "insert_relation", "update", "upsert", "merge", "patch", "delete"),
        *("relate", "run", "info"),
    }
)
SETTING_METHODS = frozenset({"use", "let", "unset"})
OPEN_METHODS = frozenset(
    {"ping", "version", "use", "signin", "authenticate", "invalidate", "reset", "attach", "detach", "sessions"}
)
"""What a session may do before it has signed in."""
_CHANGING = SETTING_METHODS | {"signin", "authenticate", "invalidate", "reset", "attach", "detach"}
_REFUSED = {
    "live": "",
    "kill": "",
    "begin": "put BEGIN and COMMIT into the text of one query",
    "commit": "put BEGIN and COMMIT into the text of one query",
    "cancel": "put BEGIN and CANCEL into the text of one query",
    "signup": f"there is one user, {USER}",
}
KNOWN_METHODS = OPEN_METHODS | SETTING_METHODS | DATA_METHODS | _REFUSED.keys()
_NOTHING = Reply(True, NONE)

logger = logging.getLogger("memcastle.database")


@dataclass(slots=True, eq=False)
class _Session:
    """A session of the client, and what of it is still being answered."""

    engine: EngineSession
    signed_in: bool = False
    running: set[asyncio.Task[None]] = field(default_factory=set)
    barrier: asyncio.Task[None] | None = None


class Dialogue:
    """The conversation with one client. `send` takes frames, `hang_up` closes the connection."""

    def __init__(
        self,
        host: SessionHost,
        credentials: Credentials,
        codec: Codec,
        send: Callable[[bytes | str], Awaitable[None]],
        hang_up: Callable[[int], Awaitable[None]],
        *,
        vouched: bool,
    ) -> None:
        self._host = host
        self._credentials = credentials
        self._codec = codec
        self._send = send
        self._hang_up = hang_up
        self._vouched = vouched
        self._sessions: dict[UUID | None, _Session] = {}
        self._attaching: dict[UUID | None, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(MAX_RUNNING)
        self._signing_in = asyncio.Lock()
        self._refusals = 0
        self._closed = False

    async def open(self) -> None:
        """Starts the connection's own session. Raises StoreFailed."""
        self._sessions[None] = await self._new_session(signed_in=self._vouched or not self._credentials.required)

    async def receive(self, frame: bytes | str) -> None:
        """Takes one frame; returns as soon as the next may be read."""
        try:
            request = await self._codec.read(frame)
        except Refused as refused:
            logger.debug("database request", extra={"method": None, "outcome": "unreadable"})
            await self._send(await self._codec.write(None, refused))
            return
        if (attaching := self._attaching.get(request.session)) is not None:
            await asyncio.wait({attaching})
        await self._places.acquire()
        if self._closed:
            self._places.release()
            return
        session = self._sessions.get(request.session)
        task = asyncio.create_task(self._answer(request, _predecessors(request, session)))
        self._tasks.add(task)
        task.add_done_callback(self._done)
        if request.method == "attach" and session is None:
            self._attaching[request.session] = task
            task.add_done_callback(lambda _: self._attaching.pop(request.session, None))
        if session is not None:
            if request.method in _CHANGING:
                session.barrier = task
                session.running.clear()
            else:
                session.running.add(task)
                task.add_done_callback(session.running.discard)

    async def close(self) -> None:
        """Interrupts what is running and ends every session."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        sessions = list(self._sessions.values())
        self._sessions.clear()
        for session in sessions:
            await session.engine.close()

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._places.release()

    async def _answer(self, request: Request, before: frozenset[asyncio.Task[None]]) -> None:
        try:
            await self._answered(request, before)
        except Exception:
            # The client would wait for ever.
            logger.exception("a database request was not answered")
            await self._hang_up(FAILED)

    async def _answered(self, request: Request, before: frozenset[asyncio.Task[None]]) -> None:
        if before:
            await asyncio.wait(before)
        began = time.perf_counter()
        reply = await self._reply(request)
        outcome = "refused" if isinstance(reply, Refused) else "ok" if reply.ok else "error"
        milliseconds = round((time.perf_counter() - began) * 1000, 3)
        shown = request.method if request.method in KNOWN_METHODS else "other"
        logger.debug("database request", extra={"method": shown, "outcome": outcome, "ms": milliseconds})
        try:
            frame = await self._codec.write(request, reply)
        except ValueError as error:
            frame = await self._codec.write(request, messages.failed(f"the answer cannot be written: {error}"))
        await self._send(frame)
        if self._refusals >= MAX_REFUSALS:
            logger.warning("a client of the database was refused too often", extra={"refusals": self._refusals})
            await self._hang_up(REFUSED_TOO_OFTEN)

    async def _reply(self, request: Request) -> Reply | Refused:
        try:
            return await self._dispatched(request)
        except Refused as refused:
            return refused
        except Malformed as error:
            return messages.invalid_params(str(error))
        except RequestUnreadable as error:
            return messages.unreadable(str(error))
        except AnswerUnwritable as error:
            return messages.failed(f"the protocol has no form for a value of the answer: {error}")
        except MemCastleError as error:
            logger.error("the database failed a request", extra={"code": error.code})
            return messages.failed(error.message)

    async def _dispatched(self, request: Request) -> Reply:
        method = request.method
        if request.transaction:
            raise messages.method_refused(method, "transactions over several requests; " + _REFUSED["begin"])
        if method == "attach":
            return await self._attach(request)
        session = self._sessions.get(request.session)
        if session is None:
            assert request.session is not None
            raise messages.session_unknown(request.session)
        if not session.signed_in and method not in OPEN_METHODS and method in KNOWN_METHODS:
            raise messages.not_signed_in()
        if method in DATA_METHODS:
            return await self._data(session, request)
        if method in SETTING_METHODS:
            return await session.engine.call(method, request.params)
        match method:
            case "ping":
                return _NOTHING
            case "version":
                return await session.engine.call("version")
            case "signin":
                return await self._sign_in(session, request)
            case "authenticate":
                return await self._authenticate(session, request)
            case "invalidate" | "reset":
                return await self._reset(session)
            case "detach":
                return await self._detach(request)
            case "sessions":
                known = [identity for identity in self._sessions if identity is not None]
                return Reply(True, array(*map(cbor2.dumps, known)))
            case "live" | "kill":
                raise messages.live_refused()
        if method in _REFUSED:
            raise messages.method_refused(method, _REFUSED[method])
        raise messages.unknown_method(method)

    async def _data(self, session: _Session, request: Request) -> Reply:
        sql = None
        if request.method == "query":
            params = cbor.elements(request.params)
            sql = cbor.text_of(params[0]) if params and cbor.is_text(params[0]) else None
        return await session.engine.run(request.method, request.params, sql)

    async def _new_session(self, *, signed_in: bool) -> _Session:
        session = _Session(await self._host.open_session())
        try:
            if signed_in:
                await session.engine.sign_in()
                session.signed_in = True
        except BaseException:
            await session.engine.close()
            raise
        return session

    async def _attach(self, request: Request) -> Reply:
        if request.session is None:
            raise messages.invalid_params("Expected a session id")
        if request.session in self._sessions:
            raise messages.session_exists(request.session)
        # Its own attempt is among those that are attaching, and the connection's own session is no attached one.
        if len(self._sessions) + len(self._attaching) - 1 > MAX_SESSIONS:
            raise messages.invalid_params(f"A connection has at most {MAX_SESSIONS} sessions; detach one")
        self._sessions[request.session] = await self._new_session(signed_in=self._vouched or not self._credentials.required)
        return _NOTHING

    async def _detach(self, request: Request) -> Reply:
        if request.session is None:
            raise messages.invalid_params("Expected a session id")
        session = self._sessions.pop(request.session, None)
        if session is None:
            raise messages.session_unknown(request.session)
        await session.engine.close()
        return _NOTHING

    async def _reset(self, session: _Session) -> Reply:
        """A fresh session in the place of this one, signed out unless nobody has to sign in."""
        fresh = await self._new_session(signed_in=not self._credentials.required)
        session.engine, old = fresh.engine, session.engine
        session.signed_in = fresh.signed_in
        await old.close()
        return _NOTHING

    async def _sign_in(self, session: _Session, request: Request) -> Reply:
        params = _small(request)
        given = params[0] if len(params) == 1 else None
        if not isinstance(given, dict):
            raise messages.invalid_params("Expected (params:object)")
        user = given.get("user", given.get("username"))
        password = given.get("pass", given.get("password"))
        if not isinstance(user, str) or not isinstance(password, str):
            await self._admit(session, None)
        await self._admit(session, str(password) if user == USER else None)
        names = [given.get(name, given.get(name.upper())) for name in ("ns", "db")]
        if any(isinstance(name, str) for name in names):
            used = await session.engine.call("use", array(*(text(name) if isinstance(name, str) else NONE for name in names)))
            if not used.ok:
                return used
        return Reply(True, text(self._credentials.ticket(str(password))))

    async def _authenticate(self, session: _Session, request: Request) -> Reply:
        params = _small(request)
        if len(params) != 1 or not isinstance(params[0], str):
            raise messages.invalid_params("Expected (token:string)")
        await self._admit(session, params[0])
        return _NOTHING

    async def _admit(self, session: _Session, password: str | None) -> None:
        """Signs the session in if the password passes. Raises Refused otherwise, a quarter of a second later."""
        # One at a time, so that the wait cannot be spread over many sessions.
        async with self._signing_in:
            if self._refusals < MAX_REFUSALS and password is not None and await self._credentials.check(password):
                await session.engine.sign_in()
                session.signed_in = True
                self._refusals = 0
                return
            self._refusals += 1
            logger.warning("sign-in to the database refused", extra={"refusals": self._refusals})
            await asyncio.sleep(REFUSAL_SECONDS)
            raise messages.sign_in_refused()


def _predecessors(request: Request, session: _Session | None) -> frozenset[asyncio.Task[None]]:
    """The requests of the session that must be answered before this one begins."""
    if session is None:
        return frozenset()
    barrier = frozenset() if session.barrier is None or session.barrier.done() else frozenset({session.barrier})
    return barrier | session.running if request.method in _CHANGING else barrier


def _small(request: Request) -> list[Any]:
    """The parameters of a method that takes a few words. Raises Refused for more."""
    if len(request.params) > SMALL_PARAMS:
        raise messages.invalid_params("The parameters are too large")
    try:
        found: list[Any] = list(cbor2.loads(request.params))
    except (cbor2.CBORDecodeError, ValueError, TypeError) as error:
        raise messages.unreadable(str(error)) from None
    return found
