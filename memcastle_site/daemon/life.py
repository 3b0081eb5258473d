"""The daemon's life: what starts in which order, what a stop waits for.

The address is bound before this module is even imported, and the registry file is written last, so whoever finds
the file finds a daemon that answers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from contextlib import AsyncExitStack
from typing import Any

from jobs.conf import JobsConfig
from jobs.runtime.scheduler import Scheduler
from jobs.services import remove_aged
from memcastle_site import __version__, wiring
from memcastle_site.asgi import application
from memcastle_site.conf import AuthConfig, Loaded, PalaceConfig, StoreConfig
from memcastle_site.daemon import front, registry, state
from memcastle_site.daemon.palace import SERVER_PATIENCE_SECONDS, open_palace, sole_daemon_of
from memcastle_site.daemon.sockets import address_text
from memcastle_site.schema_files import definitions
from memcastle_site.services import close_database, require_satisfiable
from palace import events, store
from palace.clock import now
from palace.configuration import current as configured
from palace.store.changes import purge_changes
from palace.store.migrations import migrate

logger = logging.getLogger("memcastle.daemon")

REQUEST_MARGIN_SECONDS = 2.0
"""How much longer open requests may take to end than running jobs."""
TIDY_INTERVAL_SECONDS = 3600


def run(loaded: Loaded, listener: socket.socket) -> None:
    """Serves on a bound socket until asked to stop.

    Raises a MemCastleError when the palace cannot be served; everything that was opened is closed then.
    """
    front.run(lambda: Daemon(loaded, listener).live())


class Daemon:
    """One start to one stop."""

    def __init__(self, loaded: Loaded, listener: socket.socket) -> None:
        self._listener = listener
        self._palace = configured(PalaceConfig).path
        self._registry = registry.registry_path(loaded.places.state, self._palace)
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._ip, self._port = listener.getsockname()[:2]

    @property
    def address(self) -> str:
        """The address really bound, `ip:port`."""
        return address_text(self._ip, self._port)

    def request_shutdown(self) -> None:
        """The first request starts an orderly stop, a second one skips its waiting."""
        if self._stop.is_set():
            self._hurry.set()
        else:
            logger.info("shutdown requested")
            self._stop.set()

    async def live(self) -> None:
        """Starts everything, waits for the request to stop, ends everything in the opposite order."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.request_shutdown)
        logger.info("starting", extra={"version": __version__, "pid": os.getpid()})
        async with AsyncExitStack() as stack:
            await self._start(stack)
            await self._stop.wait()
        logger.info("stopped")
        for number in (signal.SIGINT, signal.SIGTERM):
            # The loop's end would give the signal its default back, and a second one would end the process as if it failed.
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)

    async def _start(self, stack: AsyncExitStack) -> None:
        if configured(StoreConfig).mode == "remote":
            stack.enter_context(sole_daemon_of(self._palace))
        palace = await open_palace(patience=SERVER_PATIENCE_SECONDS)
        store.install(palace)
        # The registry file tells others that the palace is taken, so it goes after the database is closed.
        stack.callback(self._unregister)
        stack.push_async_callback(palace.close)
        stack.callback(store.install, None)
        stack.push_async_callback(close_database)
        await migrate(palace, definitions(), release=__version__)
        await require_satisfiable()
        wiring.connect()
        state.install(state.DaemonState(os.getpid(), now(), self.address, self._palace, self.request_shutdown))
        stack.callback(state.install, None)
        tailer = events.ChangeTailer(palace)
        await tailer.start()
        stack.push_async_callback(tailer.stop)
        events.install(tailer)
        stack.callback(events.install, None)
        scheduler = Scheduler()
        await scheduler.recover()
        server = front.Front(application(self._stop.is_set))
        stack.push_async_callback(self._drain, scheduler, server, tailer)
        await scheduler.start()
        tidying = asyncio.create_task(_tidy(palace))
        stack.callback(tidying.cancel)
        await server.open(self._listener)
        self._register()
        front.tune()
        self._announce(palace)

    def _register(self) -> None:
        registration = registry.registration_of_this_process(self._ip, self._port, state.current().started_at, __version__)
        registry.write(self._registry, registration)

    def _unregister(self) -> None:
        found = registry.read(self._registry).registration
        if found is not None and found.pid == os.getpid():
            registry.remove(self._registry, found)

    def _announce(self, palace: store.Store) -> None:
        beyond_loopback = not (self._ip.startswith("127.") or self._ip == "::1")
        if configured(AuthConfig).enabled:
            logger.info("authentication is on")
        elif beyond_loopback:
            logger.warning("listening beyond loopback without authentication", extra={"bind": self.address})
        logger.info(
            "listening",
            extra={
                "version": __version__,
                "pid": os.getpid(),
                "bind": self.address,
                "palace": str(self._palace),
                "backend": palace.backend,
            },
        )
        sys.stdout.write(f"MemCastle is serving on http://{self.address} (dashboard: http://{self.address}/ui/)\n")
        sys.stdout.flush()

    async def _drain(self, scheduler: Scheduler, server: front.Front, tailer: events.ChangeTailer) -> None:
        """Jobs and open requests end side by side; both waits are bounded, and skipped when asked twice to stop."""
        limit = configured(JobsConfig).drain_timeout_secs
        # A stream never ends by itself, and nobody should wait for it.
        tailer.bus.close()
        draining: asyncio.Future[Any] = asyncio.gather(
            scheduler.drain(limit), server.close(limit + REQUEST_MARGIN_SECONDS), return_exceptions=True
        )
        hurry = asyncio.create_task(self._hurry.wait())
        waits: tuple[asyncio.Future[Any], ...] = (draining, hurry)
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        hurry.cancel()
        if not draining.done():
            logger.warning("asked twice to stop; running work is not waited for")
            draining.cancel()
            await asyncio.gather(draining, return_exceptions=True)
            await server.close(0)
            return
        for outcome in draining.result():
            if isinstance(outcome, BaseException):
                logger.error("a part of the daemon did not stop cleanly", exc_info=outcome)


async def _tidy(palace: store.Store) -> None:
    """Removes what is past its keeping time, at the start and then every `TIDY_INTERVAL_SECONDS`."""
    while True:
        for what, remove in (("change outbox", lambda: purge_changes(palace, now())), ("jobs", remove_aged)):
            try:
                await remove()
            except Exception:
                logger.exception("what is past its keeping time could not be removed", extra={"from": what})
        await asyncio.sleep(TIDY_INTERVAL_SECONDS)
