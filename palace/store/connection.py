"""The handle: opening, querying, transactions, closing.

The handle is asynchronous and belongs to one event loop: the blocking one would hold the interpreter lock for the
length of a query. Threads reach it through `on_loop`.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from palace.errors import MemCastleError, StoreFailed

logger = logging.getLogger("memcastle.store")

NAMESPACE = "memcastle"
DATABASE = "palace"
SLOW_QUERY_SECONDS = 1.0
SETTLING_SECONDS = 0.25

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Persistence:
    """How often what met a write conflict is tried, and how long the waits between are: longer each time, up to a limit."""

    tries: int
    pause_seconds: float
    longest_pause_seconds: float

    def pause(self, attempt: int) -> float:
        """The wait after a failed attempt (the first is 1), made uneven so that two writers do not meet again."""
        return min(self.pause_seconds * attempt, self.longest_pause_seconds) * random.uniform(0.5, 1.5)


ALONE = Persistence(tries=8, pause_seconds=0.005, longest_pause_seconds=0.04)
"""For a database inside this process, whose writers wait for each other anyway."""
AMONG_OTHERS = Persistence(tries=60, pause_seconds=0.01, longest_pause_seconds=0.25)
"""For a database with writers in other processes, where nothing but another try settles who goes first."""


class TransactionRefused(Exception):
    """A statement of ours threw on purpose (`THROW`); `reason` is the thrown text. Nothing was written."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RecordExists(StoreFailed):
    """A record id or a unique index value is taken. Nothing was written."""


class _Conflict(Exception):
    """Two transactions met; the engine asks for another try."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """SurrealQL statements with their variables, to be run alone or joined with others in one transaction.

    Every statement ends with a semicolon. Variables of fragments that are joined must not share names. `announces`
    says that the fragment appends to the change outbox.
    """

    sql: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    announces: bool = False


class Store:
    """An open palace database. Made by `open_embedded` or `open_remote`, ended by `close`."""

    def __init__(self, handle: Any, location: str, backend: str) -> None:
        self._handle = handle
        self._loop = asyncio.get_running_loop()
        self._writing = asyncio.Lock()
        self.news = asyncio.Event()
        """Set when there may be new entries in the change outbox; whoever reads it clears it first."""
        self.location = location
        """Where the data is, without any secret."""
        self.backend = backend
        """`embedded` or `remote`, for reports only."""
        self.shared = backend == "remote"
        """Whether other daemons may write to the same database."""
        self._persistence = AMONG_OTHERS if self.shared else ALONE

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop that owns the handle."""
        return self._loop

    def engine(self) -> Callable[[bytes], Awaitable[bytes]]:
        """The engine's own interface: one request in, one answer out, both CBOR (`palace.store.sessions`).

        Raises StoreFailed for a database that another process holds.
        """
        if self.backend != "embedded":
            raise StoreFailed("the database of this palace is not in this process")
        execute: Callable[[bytes], Awaitable[bytes]] = self._handle._db.execute
        return execute

    async def query(self, sql: str, **variables: Any) -> list[Any]:
        """The results of all statements, in order.

        Raises TransactionRefused for a THROW of ours, RecordExists for a taken id or unique value, and StoreFailed
        for everything else. A transaction conflict is tried again, so a call must be safe to repeat as a whole:
        one statement, or one transaction.
        """
        started = time.monotonic()
        tries = self._persistence.tries
        for attempt in range(1, tries + 1):
            try:
                results = _results(await self._send(sql, variables))
                break
            except _Conflict as conflict:
                if attempt == tries:
                    raise StoreFailed(
                        f"the database kept reporting write conflicts ({tries} tries)",
                        help="Nothing was written. The record is under heavy change; try again.",
                    ) from conflict
                await asyncio.sleep(self._persistence.pause(attempt))
        elapsed = time.monotonic() - started
        if elapsed > SLOW_QUERY_SECONDS:
            logger.warning("slow query", extra={"elapsed_ms": round(elapsed * 1000), "statement": sql.strip()[:120]})
        return results

    async def first(self, sql: str, **variables: Any) -> Any:
        """The result of the first statement."""
        return (await self.query(sql, **variables))[0]

    async def transact(self, *fragments: Fragment, patience: float | None = None) -> list[Any]:
        """Runs all fragments in one transaction, either everything or nothing; gives the results of all statements.

        Transactions of this process wait for each other. The engine would let them run side by side, find that both
        touched the full-text index, and make one of them start again. What cannot wait for a long one says how many
        seconds it will, and then runs beside it. Raises as `query` does.
        """
        variables: dict[str, Any] = {}
        for fragment in fragments:
            if shared := variables.keys() & fragment.variables.keys():
                raise ValueError(f"fragments of one transaction share the variables {sorted(shared)}")
            variables.update(fragment.variables)
        body = "\n".join(fragment.sql for fragment in fragments)
        async with self.turn(patience):
            results = await self.query(f"BEGIN TRANSACTION;\n{body}\nCOMMIT TRANSACTION;", **variables)
        if any(fragment.announces for fragment in fragments):
            self.news.set()
        return results[1:-1]

    @asynccontextmanager
    async def turn(self, patience: float | None = None) -> AsyncIterator[None]:
        """The turn to write, for the length of a `with` block; after `patience` seconds without it, none at all."""
        try:
            async with asyncio.timeout(patience):
                await self._writing.acquire()
        except TimeoutError:
            yield
            return
        try:
            yield
        finally:
            self._writing.release()

    async def _send(self, sql: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            answer: Mapping[str, Any] = await self._handle.query_raw(sql, dict(variables))
        except MemCastleError:
            raise
        except Exception as error:
            raise StoreFailed(f"the database did not answer: {error}") from error
        return answer

    async def close(self) -> None:
        """Flushes and closes; the directory can be opened by another process afterwards."""
        await self._handle.close()


_unlimited: ContextVar[bool] = ContextVar("queries without a time limit", default=False)


@contextmanager
def no_time_limit() -> Iterator[None]:
    """Lets queries take as long as they need, for the length of a `with` block and in tasks that it starts.

    For work that cannot be cut into pieces, such as building an index. A connection that breaks still ends them.
    """
    before = _unlimited.set(True)
    try:
        yield
    finally:
        _unlimited.reset(before)


def limited() -> bool:
    """Whether queries of this task must end within the store's time limit."""
    return not _unlimited.get()


async def open_embedded(directory: Path, *, sync: str = "every") -> Store:
    """Opens, and creates when missing, the embedded database in `directory`.

    `sync` is `every` (flush at each commit), `never`, or an interval such as `500ms`.
    Raises StoreFailed when another process holds the directory, or when it cannot be used.
    """
    from surrealdb import AsyncSurreal

    _settle_at_exit()
    await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
    endpoint = f"surrealkv://{directory}" + ("" if sync == "every" else f"?sync={sync}")
    try:
        handle = AsyncSurreal(endpoint)
        await handle.connect()
        await handle.use(NAMESPACE, DATABASE)
    except Exception as error:
        if "locked" in str(error).lower():
            raise StoreFailed(
                f"the palace at {directory.parent} is in use by another process",
                help="A palace belongs to one daemon. Use the running one (`python manage.py status`), or stop it "
                "first with `python manage.py daemon stop`; for a second daemon name another directory with --palace.",
            ) from error
        raise StoreFailed(f"the database in {directory} could not be opened: {error}") from error
    return Store(handle, str(directory), "embedded")


@functools.cache
def _settle_at_exit() -> None:
    """Makes the end of the process wait a moment for the engine's threads.

    A thread of the engine that gives back a Python object after the interpreter began to go down aborts the process
    (one exit in ten, when it follows a close at once). Waiting without the interpreter lock lets all of them finish.
    """
    atexit.register(time.sleep, SETTLING_SECONDS)


def _results(answer: Mapping[str, Any]) -> list[Any]:
    """Results of a raw answer, or the error that its entries carry."""
    if "error" in answer:
        raise StoreFailed(f"the database refused the query: {_text(answer['error'])}")
    entries = answer["result"]
    failures = [entry for entry in entries if entry["status"] != "OK"]
    if not failures:
        return [entry["result"] for entry in entries]
    # In a failed transaction one entry names the cause; the others only say that they were not executed.
    if any("can be retried" in _text(entry["result"]) for entry in failures):
        raise _Conflict
    cause = next((entry for entry in failures if not _not_executed(entry)), failures[0])
    message = _text(cause["result"])
    kind = cause.get("kind")
    if kind == "Thrown":
        raise TransactionRefused(message.removeprefix("An error occurred: "))
    # The engine reports a taken value of a unique index without a kind of its own.
    if kind == "AlreadyExists" or ("Database index" in message and "already contains" in message):
        raise RecordExists(f"the database refused a record that exists already: {message}")
    raise StoreFailed(f"the database failed a statement: {message}")


def _not_executed(entry: Mapping[str, Any]) -> bool:
    details = entry.get("details")
    return isinstance(details, Mapping) and details.get("kind") in ("NotExecuted", "Cancelled")


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return str(value.get("message") or value)
    return str(value)


_current: Store | None = None


def install(store: Store | None) -> None:
    """Makes `store` the palace of this process (None: no palace)."""
    global _current
    _current = store


def current() -> Store:
    """The palace of this process. Raises StoreFailed when none is open."""
    if _current is None:
        raise StoreFailed("no palace is open in this process")
    return _current


def on_loop(coroutine: Coroutine[Any, Any, Answer], timeout: float | None = None) -> Answer:
    """Runs a coroutine on the loop that owns the palace and waits for it: the bridge for worker threads.

    Must never be called on that loop itself, where it would wait for ever; that raises RuntimeError.
    """
    return start_on_loop(coroutine).result(timeout)


def start_on_loop(coroutine: Coroutine[Any, Any, Answer]) -> Future[Answer]:
    """Starts a coroutine on the loop that owns the palace; its answer can be waited for, and cancelled, elsewhere.

    Raises RuntimeError on that loop itself.
    """
    try:
        loop = current().loop
        if _running_loop() is loop:
            raise RuntimeError("on_loop was called on the loop that owns the palace")
    except BaseException:
        coroutine.close()
        raise
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
