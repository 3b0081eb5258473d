"""Hazard: a transaction becomes readable after one with a higher stamp. Whoever comes back in between must not miss it."""

from __future__ import annotations

import asyncio
import random

from palace.clock import now
from palace.events import ChangeTailer
from palace.store import Store
from palace.store.changes import Change, announce
from tests.events.support import id_of

WRITERS, WRITES = 16, 150


def stamp_of(event_id: str) -> int:
    return int(event_id.split("-")[1])


async def test_every_place_in_the_stream_is_followed_by_the_rest_of_it(palace: Store) -> None:
    following = ChangeTailer(palace)
    await following.start()
    reader = following.bus.subscribe()
    told: list[str] = []

    async def read() -> None:
        while len(told) < WRITERS * WRITES:
            told.extend(id_of(frame) for frame in await reader.take(20))

    async def write(writer: int) -> None:
        for count in range(WRITES):
            fragment = announce(now(), Change("thing", "created", f"{writer}-{count}"))
            # As another daemon's connection would: without waiting for this process's turn to write.
            pause = "SLEEP 2ms;" if random.random() < 0.1 else ""
            await palace.query(f"BEGIN; {fragment.sql} {pause} COMMIT;", **fragment.variables)
            palace.news.set()

    reading = asyncio.create_task(read())
    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    async with asyncio.timeout(60):
        await reading
    assert len(set(told)) == WRITERS * WRITES
    late = [place for place in range(1, len(told)) if stamp_of(told[place]) < stamp_of(told[place - 1])]
    # The places around those that came late, and some that have nothing to do with them.
    places = {near for place in late for near in (place - 1, place, place + 1)} | {0, 500, 1000, len(told) - 1}
    for place in sorted(places & set(range(len(told)))):
        missed = await following.missed(told[place])
        assert missed is not None
        assert sorted(id_of(frame) for frame in missed.frames) == sorted(told[place + 1 :])
    await following.stop()
