"""`GET /api/events`: the stream of what changes, over Channels."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from channels.exceptions import StopConsumer
from channels.generic.http import AsyncHttpConsumer
from django.http import QueryDict

from palace.domain.modes import Caller
from palace.errors import InvalidInput
from palace.events import Subscription
from palace.events.bus import OPEN
from palace.http import MODE_HEADER
from palace.modes import parse_mode
from palace.services.events import follow

logger = logging.getLogger("memcastle.events")

EVENTS_PATH = "/api/events"
COMMENT_SECONDS = 15.0
FAREWELL_SECONDS = 1.0
"""How long a client may take for what is still on its way to it when the daemon stops."""
COMMENT = b": still here\n\n"
RETRY = b"retry: 2000\n"
"""How many milliseconds a client waits before it comes back."""
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class EventStream(AsyncHttpConsumer):  # type: ignore[misc]
    """One client of the stream.

    A consumer handles its messages one after another, so the stream is written by a task of its own: the message that
    the client has left must not wait behind it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held = AsyncExitStack()
        self._over = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async with self._held:
            await super().__call__(scope, partial(self._next, receive), send)

    async def dispatch(self, message: Any) -> None:
        # Channels would look for database connections to close, in a thread, before each message.
        await getattr(self, message["type"].replace(".", "_"))(message)

    async def http_request(self, message: Any) -> None:
        if message.get("more_body"):
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in self.scope["headers"]}
        query = QueryDict(self.scope["query_string"])
        kinds = query.getlist("kinds")
        if len(kinds) > 1:
            raise InvalidInput("query", "kinds is given more than once; separate kinds by commas")
        caller = Caller(parse_mode(headers.get(MODE_HEADER.lower().encode()), MODE_HEADER.lower()))
        last_event_id = headers.get(b"last-event-id")
        subscription = await self._held.enter_async_context(follow(caller, kinds[0] if kinds else None, last_event_id))
        pump = asyncio.create_task(self._write(subscription), name="event stream")
        # The pump itself does not notice the end while it waits for a client that does not read.
        subscription.at_end(partial(asyncio.get_running_loop().call_later, FAREWELL_SECONDS, self._over.set))
        self._held.push_async_callback(_ended, pump)

    async def http_disconnect(self, message: Any) -> None:
        raise StopConsumer

    async def _next(self, receive: Any) -> Any:
        """The client's next message, or, when the stream is over, that there will be none."""
        waits = (asyncio.ensure_future(receive()), asyncio.ensure_future(self._over.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return waits[0].result() if waits[0].done() else {"type": "http.disconnect"}
        finally:
            for wait in waits:
                wait.cancel()

    async def _write(self, subscription: Subscription) -> None:
        try:
            await self.send_headers(headers=HEADERS)
            await self.send_body(RETRY + OPEN.text, more_body=True)
            while not subscription.closed:
                frames = await subscription.take(COMMENT_SECONDS)
                if frames or not subscription.closed:
                    await self.send_body(b"".join([frame.text for frame in frames]) or COMMENT, more_body=True)
            await self.send_body(b"")
        except Exception as error:
            logger.error("an event stream broke", exc_info=error)
        finally:
            self._over.set()


async def _ended(pump: asyncio.Task[None]) -> None:
    pump.cancel()
    await asyncio.gather(pump, return_exceptions=True)
