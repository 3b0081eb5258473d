"""Counts are exact at any size; no listing is cut in silence."""

from __future__ import annotations

from palace import services
from palace.clock import now
from palace.domain.drawer import Drawer, Source
from palace.domain.ids import new_id
from palace.domain.modes import Caller
from palace.domain.texts import content_hash
from palace.store import Store
from palace.store.drawers import count_drawers, insert_drawers

CALLER = Caller()
MANY = 10_001
BATCH = 1_000


async def test_ten_thousand_and_one_drawers_are_counted_as_such(palace: Store) -> None:
    room, _ = await services.create_room(CALLER, "large", "one")
    await services.create_room(CALLER, "large", "empty")
    moment = now()
    for start in range(0, MANY, BATCH):
        texts = [f"n{number}" for number in range(start, min(start + BATCH, MANY))]
        drawers = [
            Drawer(
                new_id(),
                room.id,
                None,
                text,
                content_hash(text),
                Source("manual"),
                (),
                "http",
                None,
                moment,
                None,
                moment,
                moment,
            )
            for text in texts
        ]
        await palace.transact(insert_drawers(drawers))
    assert await count_drawers(palace) == MANY
    (wing,) = await services.list_wings(CALLER)
    assert (wing.rooms, wing.drawers) == (2, MANY)
    shown, rooms = await services.show_wing(CALLER, "large")
    assert shown.drawers == sum(found.drawers for found in rooms) == MANY
    assert (await services.show_room(CALLER, "large", "one")).drawers == MANY
    assert len(await services.list_drawers(CALLER, "large", "one", 100_000)) == 200
