"""Creating what exists changes nothing; creating below creates what is above, in one transaction."""

from __future__ import annotations

import pytest

from palace import services
from palace.domain.ids import new_id
from palace.domain.modes import Caller, MemoryMode
from palace.errors import InvalidInput, ModeForbidden, RoomNotFound, WingNotFound
from palace.store import Store
from palace.store.hierarchy import palace_name

CALLER = Caller(requested_by="test")


async def test_a_new_palace_is_empty_and_reading_it_makes_nothing(palace: Store) -> None:
    assert await services.list_wings(CALLER) == []
    assert await palace.first("SELECT VALUE name FROM palace;") == []
    assert await palace_name(palace) == "default"
    await services.create_wing(CALLER, "w")
    assert await palace.first("SELECT VALUE name FROM palace;") == ["default"]


async def test_all_wings_belong_to_one_palace(palace: Store) -> None:
    first, _ = await services.create_wing(CALLER, "a")
    room, _ = await services.create_room(CALLER, "b", "r")
    second, _ = await services.show_wing(CALLER, room.wing)
    assert first.palace == second.palace == (await palace.first("SELECT VALUE record::id(id) FROM palace;"))[0]


async def test_what_exists_is_given_back_as_it_is(palace: Store) -> None:
    wing, created = await services.create_wing(CALLER, "w", "first")
    assert (created, wing.description) == (True, "first")
    assert await services.create_wing(CALLER, "w", "second") == (wing, False)
    room, created = await services.create_room(CALLER, "w", "r", "first")
    assert (created, room.description) == (True, "first")
    assert await services.create_room(CALLER, "w", "r", "second") == (room, False)
    assert await services.create_room(CALLER, wing.id, "r") == (room, False)


async def test_wings_and_rooms_come_by_name_with_their_counts(palace: Store) -> None:
    for wing, room, texts in (("b", "y", 2), ("b", "x", 3), ("a", "z", 0), ("é", "z", 1), ("B", "z", 1)):
        await services.create_room(CALLER, wing, room)
        for number in range(texts):
            await services.create_drawer(CALLER, wing, room, f"text {number}")
    await services.create_wing(CALLER, "empty")
    wings = [(wing.name, wing.rooms, wing.drawers) for wing in await services.list_wings(CALLER)]
    assert wings == [("B", 1, 1), ("a", 1, 0), ("b", 2, 5), ("empty", 0, 0), ("é", 1, 1)]
    shown, rooms = await services.show_wing(CALLER, "b")
    assert (shown.rooms, shown.drawers) == (2, 5)
    assert [(room.name, room.drawers, room.wing_name) for room in rooms] == [("x", 3, "b"), ("y", 2, "b")]


async def test_rooms_of_one_name_in_two_wings_are_two_rooms(palace: Store) -> None:
    first, _ = await services.create_drawer(CALLER, "a", "r", "the same text")
    second, created = await services.create_drawer(CALLER, "b", "r", "the same text")
    assert created
    assert first.room != second.room
    assert (await services.show_room(CALLER, "a", "r")).drawers == 1


async def test_an_id_that_nothing_has_creates_nothing(palace: Store) -> None:
    with pytest.raises(WingNotFound):
        await services.create_room(CALLER, new_id(), "r")
    with pytest.raises(WingNotFound):
        await services.create_drawer(CALLER, new_id(), "r", "text")
    with pytest.raises(RoomNotFound):
        await services.create_drawer(CALLER, "w", new_id(), "text")
    assert await services.list_wings(CALLER) == []


async def test_a_refused_drawer_leaves_no_wing_behind(palace: Store) -> None:
    with pytest.raises(InvalidInput):
        await services.create_drawer(CALLER, "w", "r", " ")
    with pytest.raises(InvalidInput):
        await services.create_drawer(CALLER, "w", "r", "a\0b")
    assert await services.list_wings(CALLER) == []


@pytest.mark.parametrize("mode", [MemoryMode.READ_ONLY, MemoryMode.DISABLED])
async def test_a_mode_without_writing_creates_nothing(palace: Store, mode: MemoryMode) -> None:
    caller = Caller(mode)
    for writing in (
        services.create_wing(caller, "w"),
        services.create_room(caller, "w", "r"),
        services.create_drawer(caller, "w", "r", "text"),
        services.delete_wing(caller, "w"),
        services.delete_room(caller, "w", "r"),
        services.delete_drawer(caller, "w", "r", "d"),
    ):
        with pytest.raises(ModeForbidden, match=mode.value):
            await writing
    assert await services.list_wings(CALLER) == []
