"""The HTTP server of the daemon: daphne's protocols under an object that can be opened and closed gracefully.

Importing this module installs Twisted's asyncio reactor in the process, so only `serve` does.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import socket
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from daphne.server import twisted_loop  # isort: skip (it installs the reactor)
from twisted.internet import reactor
from twisted.logger import STDLibLogObserver, globalLogBeginner

from memcastle_site.daemon.wire import HttpConnections, Inbox, Request, Socket, Sockets
from memcastle_site.errors import Interrupted
from memcastle_site.gate.layer import Application

Result = TypeVar("Result")
Protocol = Request | Socket

LATE_APPLICATION_SECONDS = 10.0
"""How long an application may go on after its client has left."""

CANCEL_SECONDS = 2.0
FLUSH_SECONDS = 1.0

logger = logging.getLogger("memcastle.front")


def tune() -> None:
    """Settings of the interpreter for a server with worker threads; called once everything is loaded.

    A full garbage collection stops all requests, so what start-up made is left out of it and it runs rarely. A thread
    that computes hands over every 0.5 ms instead of every 5, since the loop waits for it at each step.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    sys.setswitchinterval(0.0005)


def run(main: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Runs the coroutine on the loop that fronts need, and returns its result. Once a process, in the main thread."""
    globalLogBeginner.beginLoggingTo([STDLibLogObserver("twisted")], redirectStandardIO=False, discardBuffer=True)
    with asyncio.Runner(loop_factory=lambda: twisted_loop) as runner:
        reactor.startRunning(installSignalHandlers=False)
        return runner.run(main())


@dataclass(slots=True)
class _Exchange:
    """A request or WebSocket in progress: the application's task, and whether its client is done with it."""

    task: asyncio.Task[None] | None = None
    closed: bool = False
    patience: asyncio.TimerHandle | None = None


class Front:
    """Serves one ASGI application on one listening socket.

    Beyond what daphne does: writing waits for clients that read slowly, and reading for applications that take WebSocket
    messages slowly; bodies over 64 MiB and messages over `max_message` bytes are refused, finished requests are
    forgotten at once, and `close` lets requests in progress finish.
    """

    # What daphne's protocol classes read from their server.
    root_path = ""
    server_name = "memcastle"
    request_buffer_size = 64 * 1024
    http_timeout = None
    proxy_forwarded_address_header = None
    proxy_forwarded_port_header = None
    proxy_forwarded_proto_header = None

    def __init__(self, application: Application, *, max_message: int = 1024 * 1024) -> None:
        self._application = application
        self._exchanges: dict[Protocol, _Exchange] = {}
        self._port: Any = None
        self._transports: set[Any] = set()
        self._all_lost = asyncio.Event()
        self.closing = False
        self.ws_factory = Sockets(self, server=self.server_name)
        self.ws_factory.setProtocolOptions(
            autoPingInterval=20,
            autoPingTimeout=30,
            allowNullOrigin=True,
            openHandshakeTimeout=20,
            maxMessagePayloadSize=max_message,
            maxFramePayloadSize=max_message,
            # What breaks the protocol is told so, with a closing frame, before it is cut off.
            failByDrop=False,
        )

    async def open(self, sock: socket.socket) -> tuple[str, int]:
        """Takes over a listening socket (`sockets.bind`) and serves on it; returns its IP address and port."""
        ip, port = sock.getsockname()[:2]
        self._port = reactor.adoptStreamPort(sock.fileno(), sock.family, HttpConnections(self))
        sock.close()
        return ip, port

    async def close(self, grace: float = 5.0) -> None:
        """Stops listening, lets requests in progress finish for `grace` seconds, and closes every connection.

        A request that is still running then is answered 503 if its answer has not begun, else cut off; its task is
        cancelled. Requests that arrive meanwhile on open connections reach the application, which should refuse them.
        May be called again with less patience after a first call was cancelled.
        """
        self.closing = True
        if self._port is not None:
            port, self._port = self._port, None
            await _finished(port.stopListening())
        for protocol in list(self._exchanges):
            if isinstance(protocol, Socket):
                protocol.say_goodbye()
        await self._finish_requests(grace)
        await self._cancel_requests()
        await self._close_connections()

    async def _finish_requests(self, grace: float) -> None:
        deadline = time.monotonic() + grace
        while (running := self._running()) and (left := deadline - time.monotonic()) > 0:
            await asyncio.wait(running.values(), timeout=left)

    async def _cancel_requests(self) -> None:
        running = self._running()
        if not running:
            return
        logger.warning("requests cancelled", extra={"requests": len(running)})
        for protocol, task in running.items():
            protocol.answer(Interrupted("the daemon stopped before the request was answered"))
            task.cancel()
        _, deaf = await asyncio.wait(running.values(), timeout=CANCEL_SECONDS)
        if deaf:
            logger.warning("requests ignored their cancellation", extra={"requests": len(deaf)})

    async def _close_connections(self) -> None:
        for transport in list(self._transports):
            # A transport with a paused producer would wait for it and never close.
            transport.unregisterProducer()
            transport.loseConnection()
        if self._transports:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_lost.wait(), FLUSH_SECONDS)
        for transport in list(self._transports):
            transport.abortConnection()

    def _running(self) -> dict[Protocol, asyncio.Task[None]]:
        return {protocol: found.task for protocol, found in self._exchanges.items() if found.task is not None}

    # What the protocol classes call on their server.

    def opened(self, transport: Any) -> None:
        self._transports.add(transport)
        self._all_lost.clear()

    def lost(self, transport: Any) -> None:
        self._transports.discard(transport)
        if not self._transports:
            self._all_lost.set()

    def protocol_connected(self, protocol: Protocol) -> None:
        self._exchanges[protocol] = _Exchange()

    def protocol_disconnected(self, protocol: Protocol) -> None:
        exchange = self._exchanges.get(protocol)
        if exchange is None or exchange.closed:
            return
        exchange.closed = True
        if exchange.task is None:
            del self._exchanges[protocol]
        else:
            loop = asyncio.get_running_loop()
            exchange.patience = loop.call_later(LATE_APPLICATION_SECONDS, _cancel_late, exchange.task)

    def create_application(self, protocol: Protocol, scope: dict[str, Any]) -> asyncio.Queue[Any] | None:
        """Starts the application for a request; returns the queue it receives from, None when the client has gone."""
        exchange = self._exchanges.get(protocol)
        if exchange is None:
            return None
        incoming: asyncio.Queue[Any] = Inbox(protocol) if isinstance(protocol, Socket) else asyncio.Queue()
        scope["asgi"] = {"version": "3.0", "spec_version": "2.3"}
        if isinstance(protocol, Socket):
            scope["extensions"] = {"websocket.http.response": {}}
        exchange.task = asyncio.get_running_loop().create_task(
            self._apply(scope, incoming, partial(self._send, protocol)),
        )
        exchange.task.add_done_callback(partial(self._ended, protocol))
        return incoming

    def log_action(self, protocol: Protocol, action: str, details: dict[str, Any]) -> None:
        """daphne's access log: the gate logs requests, under their id."""

    async def _apply(self, scope: dict[str, Any], incoming: asyncio.Queue[Any], send: Any) -> None:
        await self._application(scope, incoming.get, send)

    async def _send(self, protocol: Protocol, message: dict[str, Any]) -> None:
        exchange = self._exchanges.get(protocol)
        if exchange is None or exchange.closed:
            # Nobody is listening. An application that sends on all the same must not keep the loop from everyone else.
            await asyncio.sleep(0)
            return
        protocol.handle_reply(message)
        await protocol.drained()

    def _ended(self, protocol: Protocol, task: asyncio.Task[None]) -> None:
        exchange = self._exchanges[protocol]
        exchange.task = None
        if exchange.patience is not None:
            exchange.patience.cancel()
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is not None and not task.cancelled():
            logger.error("application failed", exc_info=error)
        if exchange.closed:
            del self._exchanges[protocol]
        else:
            protocol.ended(error)


def _cancel_late(task: asyncio.Task[None]) -> None:
    logger.warning("a request went on without its client and was cancelled")
    task.cancel()


async def _finished(deferred: Any) -> None:
    if deferred is not None:
        await deferred.asFuture(asyncio.get_running_loop())
