"""Names rule what is created; what exists is found under whatever it is called, by name before id."""

from __future__ import annotations

import pytest

from palace import services
from palace.clock import now
from palace.domain.ids import new_id
from palace.domain.modes import Caller
from palace.errors import DrawerNotFound, PathInvalid, RoomNotFound, WingNotFound
from palace.store import Store
from palace.store import hierarchy as table

CALLER = Caller(requested_by="test")


async def planted_wing(palace: Store, name: str) -> str:
    """A wing that no door would create today."""
    id, at = new_id(), now()
    await palace.transact(table.ensure_palace(at), table.create_wing(id, name, None, at))
    return id


async def planted_room(palace: Store, wing: str, name: str) -> str:
    id = new_id()
    await palace.transact(table.create_room(id, wing, name, None, now()))
    return id


async def test_odd_names_of_old_stay_usable(palace: Store) -> None:
    wing = await planted_wing(palace, " a/b\n")
    room = await planted_room(palace, wing, "c/d ")
    found, created = await services.create_wing(CALLER, " a/b\n")
    assert (found.id, created) == (wing, False)
    hall, created = await services.create_room(CALLER, " a/b\n", "c/d ")
    assert (hall.id, created) == (room, False)
    drawer, created = await services.create_drawer(CALLER, wing, "c/d ", "text")
    assert (drawer.room, created) == (room, True)
    assert (await services.show_wing(CALLER, " a/b\n"))[1] == await services.list_rooms(CALLER, wing)
    with pytest.raises(PathInvalid):
        await services.create_room(CALLER, " a/b\n", "e/f")


async def test_a_name_wins_over_an_id(palace: Store) -> None:
    right = await planted_wing(palace, "right")
    called_like_it = await planted_wing(palace, right)
    assert (await services.show_wing(CALLER, right))[0].id == called_like_it
    room = await planted_room(palace, called_like_it, "room")
    called_like_the_room = await planted_room(palace, called_like_it, room)
    assert (await services.show_room(CALLER, right, room)).id == called_like_the_room
    drawer, _ = await services.create_drawer(CALLER, right, room, "text")
    assert drawer.room == called_like_the_room


async def test_a_new_room_is_never_named_by_an_id(palace: Store) -> None:
    room, _ = await services.create_room(CALLER, "w", "r")
    for id in (room.id, new_id()):
        with pytest.raises(PathInvalid):
            await services.create_room(CALLER, "w", id)
    assert [found.name for found in await services.list_rooms(CALLER, "w")] == ["r"]


async def test_names_differ_by_every_character(palace: Store) -> None:
    names = ["my-app", "my_app", "My-App", "-home-me-app", "my.app", "Ünïcode wing", "\u00e9", "e\u0301", "图", "图数"]
    for name in names:
        assert (await services.create_wing(CALLER, name))[1]
    assert sorted(wing.name for wing in await services.list_wings(CALLER)) == sorted(names)
    for name in names:
        assert (await services.show_wing(CALLER, name))[0].name == name
    with pytest.raises(WingNotFound):
        await services.show_wing(CALLER, "MY-APP")


async def test_an_empty_reference_names_nothing(palace: Store) -> None:
    await services.create_drawer(CALLER, "w", "r", "text")
    with pytest.raises(WingNotFound):
        await services.show_wing(CALLER, "")
    with pytest.raises(RoomNotFound):
        await services.show_room(CALLER, "w", "")
    with pytest.raises(DrawerNotFound):
        await services.show_drawer(CALLER, "w", "r", "")


async def test_an_unusable_place_leaves_nothing_half_made(palace: Store) -> None:
    for wing, room in (("", "r"), ("w", ""), ("a/b", "r"), ("w", "a/b"), (" w", "r"), ("w", "r\0")):
        with pytest.raises(PathInvalid):
            await services.create_drawer(CALLER, wing, room, "text")
        with pytest.raises(PathInvalid):
            await services.create_room(CALLER, wing, room)
    assert await services.list_wings(CALLER) == []


async def test_the_refusal_says_which_name_and_why(palace: Store) -> None:
    with pytest.raises(PathInvalid, match="wing name 'a/b' is not usable: it holds a '/'"):
        await services.create_wing(CALLER, "a/b")
    with pytest.raises(PathInvalid, match=r"drawer name 'a/\.\./b' is not usable: it has an empty"):
        await services.create_drawer(CALLER, "w", "r", "text", "a/../b")
