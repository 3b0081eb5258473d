"""Follows the change outbox: the one reader of a daemon, from whom everybody else hears what changed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from palace.clock import now
from palace.domain.clock import Timestamp
from palace.errors import MemCastleError
from palace.events.bus import Bus, Frame, Replay, frame
from palace.signals import changes_read
from palace.store import Store
from palace.store.changes import (
    KEEP_SECONDS,
    MILLISECOND,
    OVERLAP,
    PAGE_ROWS,
    SHORT_OVERLAP,
    Stamped,
    end_of_feed,
    epoch,
    read_page,
)

logger = logging.getLogger("memcastle.events")

POLL_SECONDS = 1.0
"""How late the commits of others are seen on a palace of one daemon (they come in through the database endpoint)."""
SHARED_POLL_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 5.0
RESTART_SECONDS = 0.5
REPLAY_FRAMES = 10_000
"""How much a client that comes back gets; who missed more reads everything again."""
SURELY_KEPT_SECONDS = KEEP_SECONDS - 3600
REMEMBERED_LATE = 1000


@dataclass(frozen=True, slots=True)
class Health:
    """How the tailer is. `lag_ms` is for how long there has been something it could not read."""

    alive: bool
    lag_ms: int
    last_read_at: Timestamp | None
    restarts: int
    error: str | None

    def as_json(self) -> dict[str, Any]:
        return {
            "alive": self.alive,
            "lag_ms": self.lag_ms,
            "last_read_at": self.last_read_at,
            "restarts": self.restarts,
            "error": self.error,
        }


class ChangeTailer:
    """Reads the outbox in commit order and spreads what it says, each transaction once.

    It starts at the present end of the feed. A store that fails is asked again, with growing pauses; the place in the
    feed is kept, so nothing is left out. All methods belong to the palace's loop.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._poll = SHARED_POLL_SECONDS if store.shared else POLL_SECONDS
        self._overlap = OVERLAP if store.shared else SHORT_OVERLAP
        self.bus = Bus()
        self.epoch = ""
        self._first = 0
        self._high = 0
        # Stamps of the last stretch, which is read again each time because a stamp may appear late.
        self._seen: dict[int, None] = {}
        # Those that did appear late, each with the newest stamp that had been told before it.
        self._late: deque[tuple[int, int]] = deque(maxlen=REMEMBERED_LATE)
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._restarts = 0
        self._error: str | None = None
        self._behind_since: float | None = None
        self._last_read_at: Timestamp | None = None

    async def start(self) -> None:
        """Takes its place at the end of the feed and begins to follow. Raises StoreFailed."""
        self.epoch = await epoch(self._store, secrets.token_hex(4))
        self._first = self._high = await end_of_feed(self._store)
        self._follow()

    async def stop(self) -> None:
        """Ends all subscriptions and stops reading."""
        self._stopping = True
        self.bus.close()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def health(self) -> Health:
        """How it is at this moment."""
        alive = self._task is not None and not self._task.done()
        behind = 0.0 if self._behind_since is None else time.monotonic() - self._behind_since
        return Health(alive, round(behind * 1000), self._last_read_at, self._restarts, self._error)

    async def missed(self, event_id: str) -> Replay | None:
        """The frames after that of an id that a client was sent.

        Frames close before it may come again: on a palace of several daemons the client may have missed them. None when
        it cannot be told what the client missed: the id is none of this palace's, is older than what is kept, or too
        much has happened since.
        """
        place = _place(event_id)
        if place is None or place[0] != self.epoch:
            return None
        _, stamp, index = place
        if stamp > self._high + OVERLAP or self._is_past_keeping(stamp):
            return None
        frames: list[Frame] = []
        stamps: set[int] = set()
        told, later = self._told_with(stamp)
        rest: int | None = min(stamp, *later) if later else stamp
        if self._store.shared:
            rest, told = stamp - self._overlap, 0
        while rest is not None:
            page = await read_page(self._store, rest)
            for transaction in page.transactions:
                stamps.add(transaction.stamp)
                made = self._frames(transaction)
                if transaction.stamp == stamp:
                    frames += made[index + 1 :]
                elif transaction.stamp > told or transaction.stamp in later:
                    frames += made
            if len(frames) > REPLAY_FRAMES:
                return None
            rest = page.rest
        # What the bus still holds back was published before this moment.
        self.bus.spread()
        return Replay(frames, frozenset(stamps), frozenset(stamp for stamp in stamps if self._unpublished(stamp)))

    def _is_past_keeping(self, stamp: int) -> bool:
        """Whether something that came after `stamp` may have been removed."""
        return stamp < self._high and time.time() - stamp / MILLISECOND / 1000 > SURELY_KEPT_SECONDS

    def _told_with(self, stamp: int) -> tuple[int, set[int]]:
        """Up to which stamp everything had been told when `stamp` was, and which of these are the exceptions."""
        told = stamp
        later: set[int] = set()
        for late, newest in self._late:
            if late == stamp:
                told, later = newest, set()
            elif newest >= stamp:
                later.add(late)
        return told, later

    def _unpublished(self, stamp: int) -> bool:
        return stamp >= self._high - self._overlap and stamp not in self._seen

    def _follow(self) -> None:
        self._task = asyncio.create_task(self._run(), name="change tailer")
        self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self._stopping or task.cancelled():
            return
        logger.error("the change tailer broke and is started again", exc_info=task.exception())
        self._restarts += 1
        self._behind_since = self._behind_since or time.monotonic()
        asyncio.get_running_loop().call_later(RESTART_SECONDS, self._restart)

    def _restart(self) -> None:
        if not self._stopping:
            self._follow()

    async def _run(self) -> None:
        pause = self._poll
        while not self._stopping:
            # `asyncio.wait_for` would swallow a cancellation that comes together with the news.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._store.news.wait()
            self._store.news.clear()
            asked = time.monotonic()
            try:
                await self._read()
            except MemCastleError as error:
                if self._error is None:
                    logger.warning("the change outbox cannot be read", extra={"error": error.message})
                self._error = error.message
                self._behind_since = self._behind_since or asked
                pause = min(max(pause, self._poll) * 2, LONGEST_PAUSE_SECONDS)
                # News that arrive meanwhile would only make it ask a store that fails without rest.
                await asyncio.sleep(min(pause, self._poll))
            else:
                self._error, self._behind_since, pause = None, None, self._poll
                self._last_read_at = now()

    async def _read(self) -> None:
        rest: int | None = max(self._first, self._high - self._overlap)
        while rest is not None:
            page = await read_page(self._store, rest, PAGE_ROWS)
            fresh = [transaction for transaction in page.transactions if transaction.stamp not in self._seen]
            if fresh:
                # Remembered before anybody is told: what a listener does wrong must not be told twice.
                self._remember(fresh)
                self.bus.publish([made for transaction in fresh for made in self._frames(transaction)])
                await changes_read.asend_robust(sender=None, changes=fresh)
            rest = page.rest

    def _remember(self, transactions: list[Stamped]) -> None:
        for transaction in transactions:
            self._seen[transaction.stamp] = None
            if transaction.stamp < self._high:
                self._late.append((transaction.stamp, self._high))
            self._high = max(self._high, transaction.stamp)
        oldest = self._high - self._overlap
        if len(self._seen) > PAGE_ROWS or min(self._seen) < oldest:
            self._seen = {stamp: None for stamp in self._seen if stamp >= oldest}

    def _frames(self, transaction: Stamped) -> list[Frame]:
        return [frame(self.epoch, transaction.stamp, index, entry) for index, entry in enumerate(transaction.entries)]


def _place(event_id: str) -> tuple[str, int, int] | None:
    """Epoch, stamp and index of an id; None for anything else."""
    mark, *numbers = event_id.strip().split("-")
    if len(numbers) != 2 or not all(number.isascii() and number.isdigit() and len(number) < 20 for number in numbers):
        return None
    return mark, int(numbers[0]), int(numbers[1])


_current: ChangeTailer | None = None


def install(tailer: ChangeTailer | None) -> None:
    """Makes `tailer` the one of this process (None: none)."""
    global _current
    _current = tailer


def current() -> ChangeTailer:
    """The tailer of this process. Raises RuntimeError when it follows no palace."""
    if _current is None:
        raise RuntimeError("this process follows no palace")
    return _current


def installed() -> ChangeTailer | None:
    """The tailer of this process, when there is one."""
    return _current
