"""Follows what happens in a daemon: its event stream, or polling where the stream cannot be had.

A follower outlives short absences of the daemon, since jobs do. Events say what changed and never how it is now, so
whoever follows asks again; and after everything that may have hidden an event (a new connection, a `resync`), it asks
for all of it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Self

from memcastle_site.console.client import Answer, DaemonClient, Query, Stream, accepted, route
from memcastle_site.console.sse import Frame, FrameParser, FrameTooLarge
from memcastle_site.errors import ClientNotRunning, ClientRemoteRejected, ClientRequestFailed, Interrupted, ShuttingDown
from palace.errors import MemCastleError

logger = logging.getLogger("memcastle.client")

SILENCE_SECONDS = 45.0
"""A stream without a byte for so long is dead: the daemon sends a comment every 15 seconds."""
FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 0.5
PATIENCE_SECONDS = 30.0
"""How long a follower outlives a daemon that does not answer: long enough for a restart."""
STEADY_SECONDS = 5.0
"""A connection that lasted so long was a good one, and the next is tried at once."""
EVENTS = route("events") + "?kinds=job"
STREAM_TYPE = "text/event-stream"
HIDING = ("open", "resync")
"""Frames before which events may have been missed."""


class _Away(Exception):
    """The daemon cannot answer just now; `error` says why, for when patience ends."""

    def __init__(self, error: MemCastleError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True)
class Event:
    """One change that the daemon announced. What this version has no use for is left out."""

    kind: str
    action: str
    id: str | None = None
    status: str | None = None

    @classmethod
    def of(cls, frame: Frame) -> Event | None:
        """The event of a frame; None for one whose data is no event of ours."""
        try:
            data = json.loads(frame.data)
        except ValueError:
            return None
        if not isinstance(data, Mapping):
            return None
        words = [data.get("kind"), data.get("action"), data.get("id"), data.get("status")]
        kind, action, identity, status = (word if isinstance(word, str) else None for word in words)
        return cls(kind or frame.event, action or "", identity, status)


@dataclass(frozen=True, slots=True)
class News:
    """What one look at the daemon brought.

    `everything`: anything may have changed. `away`: the daemon does not answer just now. Neither of these and no
    events: a sign of life.
    """

    events: tuple[Event, ...] = ()
    everything: bool = False
    away: bool = False

    def jobs(self) -> dict[str, Event]:
        """The last event of every job that has one."""
        return {event.id: event for event in self.events if event.kind == "job" and event.id is not None}


class Follower:
    """The news of one palace's daemon, for ever, and a way to ask it that fits: iterate over it and use `ask`.

    `connect` finds the daemon each time, since a restarted one may have moved. When it does not answer, or says that it
    is shutting down, for longer than PATIENCE_SECONDS, its error is raised.
    """

    def __init__(
        self,
        connect: Callable[[], DaemonClient],
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect = connect
        self._sleep = sleep
        self._clock = clock
        self._failing_since: float | None = None
        self._pause = FIRST_PAUSE_SECONDS
        self._last_id = ""
        self._client: DaemonClient | None = None
        self._trouble: _Away | None = None
        self._news = self._follow()

    def __iter__(self) -> Iterator[News]:
        return self._news

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._news.close()

    def ask(self, path: str, query: Query | None = None) -> Answer | None:
        """The daemon's answer to a GET, refusals included.

        None when it cannot answer just now; there will be news as soon as it can.
        """
        try:
            with _absences():
                self._client = self._client or self._connect()
                answer = self._client.exchange("GET", path, query=query)
                _require_serving(answer)
        except _Away as away:
            self._trouble = away
            return None
        self._failing_since = None
        return answer

    def _follow(self) -> Generator[News, None, None]:
        told = ""
        while True:
            began = self._clock()
            self._client, self._trouble = None, None
            away = _Away(ClientRequestFailed("the daemon ended its event stream"))
            try:
                with _absences():
                    self._client = self._connect()
                with closing(self._connection(self._client)) as connection:
                    for news in connection:
                        yield news
                        if self._trouble is not None:
                            raise self._trouble
            except _Away as broken:
                away = broken
            if str(away) != told:
                told = str(away)
                logger.info("the daemon is away: %s", told)
            # Counted from the first failure: a stream may have been silent for longer before it was given up.
            if self._failing_since is None:
                self._failing_since = self._clock()
            if self._clock() - self._failing_since > PATIENCE_SECONDS:
                raise away.error
            yield News(away=True)
            self._rest(self._clock() - began)

    def _rest(self, lasted: float) -> None:
        if lasted >= STEADY_SECONDS:
            self._pause = FIRST_PAUSE_SECONDS
        self._sleep(self._pause)
        self._pause = min(self._pause * 1.5, LONGEST_PAUSE_SECONDS)

    def _connection(self, client: DaemonClient) -> Generator[News, None, None]:
        """The news of one connection. Raises _Away when it breaks."""
        headers = {"Accept": STREAM_TYPE}
        if self._last_id:
            headers["Last-Event-ID"] = self._last_id
        with _absences(), client.stream(EVENTS, headers, silence=SILENCE_SECONDS) as answer:
            if isinstance(answer, Stream) and answer.content_type == STREAM_TYPE:
                yield from self._streamed(answer)
                return
            if isinstance(answer, Answer):
                _require_serving(answer)
        refusal = answer.content_type or "no type" if isinstance(answer, Stream) else f"HTTP {answer.status}"
        logger.info("no event stream is to be had (%s answers %s): polling instead", client.endpoint.url, refusal)
        yield from self._polled()

    def _streamed(self, stream: Stream) -> Iterator[News]:
        parser = FrameParser(self._last_id)
        for chunk in stream.chunks():
            self._failing_since = None
            frames = parser.feed(chunk)
            self._last_id = parser.last_id
            found = (Event.of(frame) for frame in frames if frame.event not in HIDING)
            events = tuple(event for event in found if event is not None)
            yield News(events, everything=any(frame.event in HIDING for frame in frames))

    def _polled(self) -> Iterator[News]:
        pause = FIRST_PAUSE_SECONDS
        while True:
            self._sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
            yield News(everything=True)


@contextmanager
def _absences() -> Iterator[None]:
    """Turns the failures that a restart of the daemon causes into _Away."""
    try:
        yield
    except FrameTooLarge as error:
        raise _Away(ClientRequestFailed(str(error))) from error
    except (ClientNotRunning, ClientRequestFailed) as error:
        raise _Away(error) from error


def _require_serving(answer: Answer) -> None:
    """Raises _Away when the daemon says that it is stopping."""
    code = answer.body.get("code") if isinstance(answer.body, Mapping) else None
    if answer.status == ShuttingDown.status and code in (ShuttingDown.code, Interrupted.code):
        try:
            accepted(answer)
        except ClientRemoteRejected as error:
            raise _Away(error) from error
