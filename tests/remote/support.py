"""Daemons that share a palace, and a network between them that can be disturbed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from palace.store import Server, Store, open_remote
from tests.support import Daemon, until

SHORT_LEASE = {"MEMCASTLE_JOBS_LEASE_TTL_SECS": "4"}
"""For tests in which a job must change hands."""


@dataclass(frozen=True)
class Host:
    """A daemon with a palace of its own, and its database endpoint, which is the server of all others."""

    daemon: Daemon
    url: str

    def server(self, url: str | None = None, *, query_seconds: float = 30.0, **other: str) -> Server:
        """How to reach a database of it; its own palace when nothing else is said."""
        words = {"namespace": "memcastle", "database": "palace", "username": "memcastle", "password": "memcastle"} | other
        return Server(url or self.url, query_seconds=query_seconds, **words)

    def reopen(self) -> None:
        """Opens the endpoint where it was before."""
        port = int(self.url.rpartition(":")[2])
        # The port of a killed endpoint may take a moment.
        until(lambda: self.daemon.request("POST", "/api/db", {"port": port}).status == 200, "the endpoint to open")


def hosting(daemon: Daemon) -> Host:
    """Opens the endpoint of a daemon on any free port."""
    return Host(daemon, str(daemon.post("/api/db", {"port": 0})["url"]))


def configured(home: Path, settings: Mapping[str, object]) -> None:
    """Writes a configuration file with this [store] table."""
    file = home / "config" / "memcastle" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{key} = {value}" if isinstance(value, int) else f'{key} = "{value}"' for key, value in settings.items())
    file.write_text("\n".join(("[store]", *lines, "")), encoding="utf-8")


def guest(home: Path, host: Host, *, store: Mapping[str, object] | None = None, **settings: str) -> Daemon:
    """A daemon, not yet started, whose palace is on the host."""
    words = {
        "mode": "remote",
        "url": host.url,
        "namespace": "memcastle",
        "database": "palace",
        "username": "memcastle",
        "password": "memcastle",
    }
    configured(home, words | dict(store or {}))
    return Daemon(home, settings)


@contextmanager
def started(*daemons: Daemon) -> Iterator[None]:
    """Starts daemons for the length of a `with` block; the last one is stopped first."""
    with contextlib.ExitStack() as stack:
        for daemon in daemons:
            stack.callback(lambda daemon=daemon: daemon.process is None or daemon.stop())
            daemon.start()
        yield


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Store]:
    """The store of a palace on a server."""
    store = await open_remote(server)
    try:
        yield store
    finally:
        await store.close()


@dataclass
class Wire:
    """A network between a client and a host: connections go through it, until it is told otherwise."""

    target: tuple[str, int]
    port: int = 0
    refusing: bool = False
    """Whether new connections are closed at once."""
    swallowing: bool = False
    """Whether what the host answers is lost."""
    made: int = 0
    """How many connections were let through so far."""
    passed: int = 0
    """How many bytes clients have sent."""
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Breaks every connection."""
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            writer.transport.abort()
            return
        self.made += 1
        beyond_reader, beyond_writer = await asyncio.open_connection(*self.target)
        self._writers |= {writer, beyond_writer}
        for source, sink, answers in ((reader, beyond_writer, False), (beyond_reader, writer, True)):
            task = asyncio.create_task(self._pass_on(source, sink, answers=answers))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if answers and self.swallowing:
                    continue
                if not answers:
                    self.passed += len(data)
                writer.write(data)
                await writer.drain()
        writer.transport.abort()
        self._writers.discard(writer)


@asynccontextmanager
async def wired(host: Host) -> AsyncIterator[Wire]:
    """A wire to the host for the length of a `with` block."""
    wire = Wire(("127.0.0.1", int(host.url.rpartition(":")[2])))
    listener = await asyncio.start_server(wire._accept, "127.0.0.1", 0)
    wire.port = listener.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        listener.close()
        wire.cut()
        await asyncio.gather(*wire._tasks, return_exceptions=True)
