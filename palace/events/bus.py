"""Spreads frames to subscribers. Publishing never waits, and what a subscriber holds is bounded.

Belongs to one event loop. A frame is made once and shared by all subscribers, so three hundred of them cost a reference
each.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

CAPACITY = 1024
"""Frames that a subscriber may be behind. A transaction of a mine has some thirty of them."""
SECONDS_A_SUBSCRIBER = 0.002


@dataclass(frozen=True, slots=True)
class Frame:
    """One notice, as it goes over the wire. `stamp` is its transaction's place in the commit order, 0 for none."""

    kind: str
    stamp: int
    text: bytes


def frame(epoch: str, stamp: int, index: int, entry: Mapping[str, Any]) -> Frame:
    """The frame of one entry of the outbox; `index` is its place in the transaction."""
    kind = str(entry["kind"])
    shape = {"kind": kind, "action": entry["action"]}
    shape |= {name: entry[name] for name in ("id", "job_kind", "status") if name in entry}
    data = json.dumps(shape, ensure_ascii=False, separators=(",", ":"))
    return Frame(kind, stamp, f"id: {epoch}-{stamp}-{index}\nevent: {kind}\ndata: {data}\n\n".encode())


@dataclass(frozen=True, slots=True)
class Replay:
    """What a reader missed: the frames, the stamps of their transactions, and which of these are yet to be published."""

    frames: list[Frame]
    stamps: frozenset[int]
    unpublished: frozenset[int]


OPEN = Frame("open", 0, b"event: open\ndata: {}\n\n")
RESYNC = Frame("resync", 0, b'event: resync\ndata: {"kind":"resync","action":"updated"}\n\n')


class Subscription:
    """What one reader has not read yet."""

    def __init__(self, kinds: Collection[str] | None) -> None:
        self._kinds = None if kinds is None else frozenset(kinds)
        self._waiting: list[Frame] = []
        self._ready = asyncio.Event()
        self._lagging = False
        self._replayed: frozenset[int] = frozenset()
        self._at_end: Callable[[], object] | None = None
        self.closed = False

    def wants(self, kind: str) -> bool:
        """Whether the reader asked for that kind."""
        return self._kinds is None or kind in self._kinds

    def offer(self, frames: Iterable[Frame]) -> None:
        """Adds frames. A reader that is too far behind loses all of them and is told so once."""
        if self._lagging or self.closed:
            return
        if self._kinds is None and not self._replayed:
            # Nearly everybody, and a crowd feels each look at a frame.
            self._waiting += frames
        else:
            self._waiting += [frame for frame in frames if self.wants(frame.kind) and frame.stamp not in self._replayed]
        if len(self._waiting) > CAPACITY:
            self.lose()
        if self._waiting:
            self._ready.set()

    def lose(self) -> None:
        """Gives up what waits: the reader has to read everything again."""
        self._lagging = True
        self._waiting = [RESYNC]
        self._ready.set()

    def replay(self, missed: Replay) -> None:
        """Puts what the reader missed before it came back in front, and leaves out those transactions later."""
        frames = [frame for frame in missed.frames if self.wants(frame.kind)]
        self._replayed = missed.unpublished
        self._waiting = [*frames, *(frame for frame in self._waiting if frame.stamp not in missed.stamps)]
        if self._waiting:
            self._ready.set()

    async def take(self, patience: float) -> list[Frame]:
        """Everything that waits, once there is something; nothing when there was none for so many seconds, or at the end."""
        if not self._waiting and not self.closed:
            try:
                async with asyncio.timeout(patience):
                    await self._ready.wait()
            except TimeoutError:
                return []
        taken, self._waiting = self._waiting, []
        self._lagging = False
        if not self.closed:
            self._ready.clear()
        return taken

    def close(self) -> None:
        """Ends the subscription: what waits is still taken, nothing is added."""
        self.closed = True
        self._ready.set()
        if self._at_end is not None:
            self._at_end()

    def at_end(self, call: Callable[[], object]) -> None:
        """Has `call` called when the subscription ends, or now if it has ended: for what may not be waiting in `take`."""
        self._at_end = call
        if self.closed:
            call()


class Bus:
    """The subscribers of one process.

    Waking a subscriber costs a write to its client. So the subscribers are woken all together, and not again before
    `SECONDS_A_SUBSCRIBER` for each of them has passed: a crowd takes a bounded part of the processor, however much
    happens, and what comes after a quiet while still goes out at once.
    """

    def __init__(self) -> None:
        self._subscriptions: set[Subscription] = set()
        self._gathered: list[Frame] = []
        self._spread_at = -math.inf
        self._spreading: asyncio.TimerHandle | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._subscriptions)

    def subscribe(self, kinds: Collection[str] | None = None) -> Subscription:
        """A subscriber of everything published from now on, or of some kinds only. One that comes too late has ended."""
        self.spread()
        subscription = Subscription(kinds)
        self._subscriptions.add(subscription)
        if self._closed:
            subscription.close()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Forgets a subscriber; safe to repeat."""
        self._subscriptions.discard(subscription)

    def publish(self, frames: list[Frame]) -> None:
        """Offers the frames to everyone, at once or with those that come soon after."""
        if not self._subscriptions:
            return
        self._gathered += frames
        pause = self._spread_at + len(self._subscriptions) * SECONDS_A_SUBSCRIBER - time.monotonic()
        if pause <= 0 or len(self._gathered) > CAPACITY // 2:
            self.spread()
        elif self._spreading is None:
            self._spreading = asyncio.get_running_loop().call_later(pause, self.spread)

    def spread(self) -> None:
        """Offers what was gathered now."""
        if self._spreading is not None:
            self._spreading.cancel()
            self._spreading = None
        if not self._gathered:
            return
        frames, self._gathered = self._gathered, []
        self._spread_at = time.monotonic()
        for subscription in self._subscriptions:
            subscription.offer(frames)

    def close(self) -> None:
        """Ends all subscriptions, and those that are still to come."""
        self.spread()
        self._closed = True
        for subscription in self._subscriptions:
            subscription.close()
