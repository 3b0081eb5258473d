"""The bus: what a subscriber holds is bounded, and falling behind is told once."""

from __future__ import annotations

import asyncio

from palace.events.bus import CAPACITY, RESYNC, Bus, Frame, Replay, Subscription, frame


def frames(first: int, last: int, kind: str = "drawer") -> list[Frame]:
    return [frame("e", stamp, 0, {"kind": kind, "action": "created"}) for stamp in range(first, last + 1)]


async def taken(reader: Subscription, count: int) -> list[Frame]:
    """The next so many frames, in as few portions as they come."""
    found: list[Frame] = []
    while len(found) < count:
        found += await reader.take(20)
    return found


async def test_everyone_gets_everything_published_since() -> None:
    bus = Bus()
    early = bus.subscribe()
    bus.publish(frames(1, 3))
    late = bus.subscribe()
    bus.publish(frames(4, 5))
    assert await taken(early, 5) == frames(1, 5)
    assert await taken(late, 2) == frames(4, 5)
    assert await late.take(0.001) == []


async def test_frames_are_shared_not_copied() -> None:
    bus = Bus()
    one, other = bus.subscribe(), bus.subscribe()
    bus.publish(frames(1, 1))
    assert (await one.take(1))[0] is (await other.take(1))[0]


async def test_a_reader_that_falls_behind_is_told_once_and_goes_on() -> None:
    bus = Bus()
    slow, fast = bus.subscribe(), bus.subscribe()
    got: list[Frame] = []
    for start in range(1, 3 * CAPACITY, 100):
        bus.publish(frames(start, start + 99))
        if len(got) < start + 99:
            got += await taken(fast, start + 99 - len(got))
    assert [made.stamp for made in got] == list(range(1, len(got) + 1))
    assert await slow.take(1) == [RESYNC]
    bus.publish(frames(9000, 9001))
    assert await taken(slow, 2) == frames(9000, 9001)


async def test_what_waits_is_bounded() -> None:
    bus = Bus()
    slow = bus.subscribe()
    for _ in range(10):
        bus.publish(frames(1, CAPACITY))
    assert await slow.take(1) == [RESYNC]


async def test_a_waiting_reader_wakes_and_ends() -> None:
    bus = Bus()
    reader = bus.subscribe()
    waiting = asyncio.create_task(reader.take(60))
    await asyncio.sleep(0)
    bus.publish(frames(1, 1))
    assert await waiting == frames(1, 1)
    waiting = asyncio.create_task(reader.take(60))
    await asyncio.sleep(0)
    bus.close()
    assert await waiting == []
    assert reader.closed
    bus.publish(frames(2, 2))
    assert await reader.take(60) == []


async def test_kinds_that_are_not_wanted_do_not_count() -> None:
    bus = Bus()
    reader = bus.subscribe({"job"})
    for _ in range(5):
        bus.publish(frames(1, CAPACITY))
    bus.publish(frames(1, 1, kind="job"))
    assert [made.kind for made in await taken(reader, 1)] == ["job"]


async def test_a_replay_comes_first_and_only_once() -> None:
    bus = Bus()
    reader = bus.subscribe()
    bus.publish(frames(5, 6))
    reader.replay(Replay(frames(3, 7), frozenset({3, 4, 5, 6, 7}), frozenset({7})))
    bus.publish(frames(7, 8))
    assert await taken(reader, 6) == [*frames(3, 7), *frames(8, 8)]


async def test_many_readers_are_woken_together_and_not_for_every_event() -> None:
    bus = Bus()
    readers = [bus.subscribe() for _ in range(50)]
    portions = 0
    for number in range(1, 101):
        bus.publish(frames(number, number))
        await asyncio.sleep(0)
    while got := await readers[0].take(0.5):
        portions += 1
        last = got[-1]
    assert last.stamp == 100
    assert portions < 20
    for reader in readers[1:]:
        assert len(await taken(reader, 100)) == 100
