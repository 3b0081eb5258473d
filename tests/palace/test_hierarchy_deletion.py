"""Deleting takes everything below with it, all of it or nothing, and nothing is left that counts or is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from palace import services
from palace.domain.hierarchy import Deleted
from palace.domain.ids import new_id
from palace.domain.modes import Caller
from palace.errors import DrawerNotFound, PalaceBusy, RoomNotFound, WingNotFound
from palace.signals import deletion_requested
from palace.store import Store, TransactionRefused
from palace.store.drawers import count_drawers
from search.domain.query import Everything, SearchQuery
from search.services import search

CALLER = Caller(requested_by="test")


@pytest.fixture
def pending() -> Iterator[list[int]]:
    """Numbers of pending jobs that listeners report, changed by the test."""
    numbers = [0]

    async def report(**_: Any) -> int:
        return numbers[0]

    deletion_requested.connect(report)
    yield numbers
    deletion_requested.disconnect(report)


async def furnished(palace: Store) -> None:
    for wing in ("kept", "doomed"):
        for room in ("a", "b"):
            for number in range(3):
                await services.create_drawer(CALLER, wing, room, f"perishable {wing} {room} {number}")


async def found() -> set[str]:
    hits = await search(CALLER, SearchQuery("perishable", limit=200, temporal=Everything()))
    return {f"{hit.wing_name}/{hit.room_name}" for hit in hits}


async def rows(palace: Store) -> list[int]:
    return await palace.query("RETURN count(SELECT id FROM wing); RETURN count(SELECT id FROM room);") + [
        await count_drawers(palace)
    ]


async def test_a_wing_goes_with_its_rooms_and_drawers(palace: Store, pending: list[int]) -> None:
    await furnished(palace)
    assert await services.delete_wing(CALLER, "doomed") == Deleted(wings=1, rooms=2, drawers=6)
    assert await rows(palace) == [1, 2, 6]
    assert await found() == {"kept/a", "kept/b"}
    assert [wing.name for wing in await services.list_wings(CALLER)] == ["kept"]
    with pytest.raises(WingNotFound):
        await services.delete_wing(CALLER, "doomed")


async def test_a_room_goes_with_its_drawers(palace: Store, pending: list[int]) -> None:
    await furnished(palace)
    assert await services.delete_room(CALLER, "doomed", "a") == Deleted(wings=0, rooms=1, drawers=3)
    assert await rows(palace) == [2, 3, 9]
    assert await found() == {"kept/a", "kept/b", "doomed/b"}
    with pytest.raises(RoomNotFound):
        await services.delete_room(CALLER, "doomed", "a")


async def test_a_drawer_goes_alone(palace: Store, pending: list[int]) -> None:
    await furnished(palace)
    drawer, _ = await services.create_drawer(CALLER, "doomed", "a", "perishable and named", "n/m")
    assert await services.delete_drawer(CALLER, "doomed", "a", "n/m") == Deleted(0, 0, 1)
    with pytest.raises(DrawerNotFound):
        await services.show_drawer(CALLER, "doomed", "a", drawer.id)
    assert await rows(palace) == [2, 4, 12]


async def test_what_was_deleted_can_be_made_again(palace: Store, pending: list[int]) -> None:
    first, _ = await services.create_drawer(CALLER, "w", "r", "text", "n")
    await services.delete_drawer(CALLER, "w", "r", "n")
    again, created = await services.create_drawer(CALLER, "w", "r", "another text", "n")
    assert created
    unnamed, _ = await services.create_drawer(CALLER, "w", "r", "unnamed")
    await services.delete_drawer(CALLER, "w", "r", unnamed.id)
    assert (await services.create_drawer(CALLER, "w", "r", "unnamed"))[1]
    await services.delete_wing(CALLER, "w")
    back, created = await services.create_drawer(CALLER, "w", "r", "text", "n")
    assert created
    assert len({first.id, again.id, back.id}) == 3
    assert await rows(palace) == [1, 1, 1]


async def test_an_empty_wing_and_an_empty_room_go_too(palace: Store, pending: list[int]) -> None:
    await services.create_room(CALLER, "w", "r")
    assert await services.delete_room(CALLER, "w", "r") == Deleted(0, 1, 0)
    assert await services.delete_wing(CALLER, "w") == Deleted(1, 0, 0)
    assert await rows(palace) == [0, 0, 0]


@pytest.mark.parametrize(("number", "words"), [(1, "1 job that writes"), (4, "4 jobs that write")])
async def test_pending_writers_hold_up_wings_and_rooms_and_no_drawer(
    palace: Store, pending: list[int], number: int, words: str
) -> None:
    await furnished(palace)
    pending[0] = number
    with pytest.raises(PalaceBusy, match=words):
        await services.delete_wing(CALLER, "doomed")
    with pytest.raises(PalaceBusy, match=words):
        await services.delete_room(CALLER, "doomed", "a")
    with pytest.raises(WingNotFound):
        await services.delete_wing(CALLER, "no such")
    named, _ = await services.create_drawer(CALLER, "doomed", "a", "named", "n")
    assert await services.delete_drawer(CALLER, "doomed", "a", named.id) == Deleted(0, 0, 1)
    assert await rows(palace) == [2, 4, 12]


async def test_a_batch_for_a_room_that_is_gone_is_refused_whole(palace: Store, pending: list[int]) -> None:
    room, _ = await services.create_room(CALLER, "doomed", "a")
    kept, _ = await services.create_room(CALLER, "kept", "a")
    drawer, _ = await services.create_drawer(CALLER, "doomed", "a", "text")
    batch = [replace(drawer, id=new_id(), room=place) for place in (kept.id, room.id)]
    await services.delete_wing(CALLER, "doomed")
    with pytest.raises(TransactionRefused, match="room_gone"):
        await services.file_documents(CALLER, services.Filing.prepare(batch, [], 1), [])
    assert await rows(palace) == [1, 1, 0]
