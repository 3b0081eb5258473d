"""A drawer is found by its name, which may hold slashes, else by its id, and only in its own room."""

from __future__ import annotations

import pytest

from palace import services
from palace.clock import now
from palace.domain.drawer import Closing
from palace.domain.modes import Caller
from palace.errors import DrawerNotFound, PathInvalid
from palace.store import Store
from palace.store.drawers import close_drawers

CALLER = Caller(requested_by="test")


USABLE = (
    *(
        "plain",
        "with space",
        "a/b/c",
        "per%cent",
        "question?",
        "ha#sh",
        "图/数据库",
        "Ünïcode",
        "👩‍👩‍👧",
        ".hidden",
        "...",
        "a..b",
    ),
    *("a.b/.c/..d/e.", "-", "~", "quo'te\"s`", "back\\slash", "$name", "⟨x⟩", "drawers/x", "a" * 1000, "null"),
)
UNUSABLE = (
    *("", " ", " a", "a ", "a\n", "a\tb", "a\0", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/..", "a/./b"),
    *("8d8ac610-566d-4ef0-9c22-186b2a5ed793", "8D8AC610566D4EF09C22186B2A5ED793", "\ud800"),
)


async def test_any_usable_name_is_found_again(palace: Store) -> None:
    for name in USABLE:
        drawer, created = await services.create_drawer(CALLER, "w", "r", "the same text", name)
        assert created, name
        assert await services.show_drawer(CALLER, "w", "r", name) == drawer
        assert await services.show_drawer(CALLER, "w", "r", drawer.id) == drawer
    assert sorted(str(summary.name) for summary in await services.list_drawers(CALLER, "w", "r")) == sorted(USABLE)


async def test_unusable_names_create_nothing(palace: Store) -> None:
    for name in UNUSABLE:
        with pytest.raises(PathInvalid):
            await services.create_drawer(CALLER, "w", "r", "text", name)
    assert await services.list_wings(CALLER) == []


async def test_a_segment_that_looks_like_an_id_is_a_name(palace: Store) -> None:
    name = "8d8ac610-566d-4ef0-9c22-186b2a5ed793/notes"
    drawer, _ = await services.create_drawer(CALLER, "w", "r", "text", name)
    assert (await services.show_drawer(CALLER, "w", "r", name)).id == drawer.id


async def test_names_differ_by_case_and_accent(palace: Store) -> None:
    for number, name in enumerate(("notes", "Notes", "note\u0301s", "not\u00e9s")):
        await services.create_drawer(CALLER, "w", "r", f"text {number}", name)
    assert (await services.show_drawer(CALLER, "w", "r", "Notes")).content == "text 1"
    with pytest.raises(DrawerNotFound):
        await services.show_drawer(CALLER, "w", "r", "NOTES")


async def test_a_part_of_a_name_is_no_name(palace: Store) -> None:
    await services.create_drawer(CALLER, "w", "r", "text", "a/b/c")
    for reference in ("a", "a/b", "b/c", "a/b/c/", "/a/b/c", "a//b/c", "a/b/c/d"):
        with pytest.raises(DrawerNotFound):
            await services.show_drawer(CALLER, "w", "r", reference)


async def test_a_drawer_that_ended_keeps_its_id_and_loses_its_name(palace: Store) -> None:
    drawer, _ = await services.create_drawer(CALLER, "w", "r", "text", "n")
    await palace.transact(close_drawers([Closing(drawer.id, now())]))
    with pytest.raises(DrawerNotFound):
        await services.show_drawer(CALLER, "w", "r", "n")
    assert (await services.show_drawer(CALLER, "w", "r", drawer.id)).name is None


async def test_a_drawer_is_reached_in_its_own_room_only(palace: Store) -> None:
    drawer, _ = await services.create_drawer(CALLER, "w", "r", "text", "n")
    await services.create_room(CALLER, "w", "s")
    await services.create_room(CALLER, "v", "r")
    for wing, room in (("w", "s"), ("v", "r")):
        for reference in ("n", drawer.id):
            with pytest.raises(DrawerNotFound):
                await services.show_drawer(CALLER, wing, room, reference)
            with pytest.raises(DrawerNotFound):
                await services.delete_drawer(CALLER, wing, room, reference)
    assert (await services.show_drawer(CALLER, "w", "r", "n")).id == drawer.id
