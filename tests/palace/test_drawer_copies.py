"""When a text is stored again: an exact copy in the same room is not, anything else is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palace import services
from palace.clock import now
from palace.domain.drawer import Closing, Drawer, Source
from palace.domain.ids import new_id
from palace.domain.modes import Caller
from palace.domain.texts import content_hash
from palace.errors import DrawerNameTaken, DrawerNotFound
from palace.store import Store
from palace.store.changes import read_changes
from palace.store.drawers import CURRENT_COPY, close_drawers, count_drawers, insert_drawers, read_drawer

CALLER = Caller(requested_by="test")


async def stored(content: str, name: str | None = None, room: str = "r") -> tuple[Drawer, bool]:
    return await services.create_drawer(CALLER, "w", room, content, name)


async def ended(palace: Store, drawer: Drawer) -> None:
    await palace.transact(close_drawers([Closing(drawer.id, now())]))


async def test_an_unnamed_copy_gives_the_drawer_that_is_there(palace: Store) -> None:
    first, created = await stored("text")
    assert created
    assert await stored("text") == (first, False)
    assert await count_drawers(palace) == 1


async def test_a_text_that_differs_by_a_character_is_another(palace: Store) -> None:
    await stored("text")
    for number, other in enumerate(("text ", " text", "text\n", "Text", "te\u0301xt", "text\u200b", "text.", "text\r"), 2):
        second, created = await stored(other)
        assert (created, second.content) == (True, other)
        assert await count_drawers(palace) == number


async def test_line_ends_and_a_byte_order_mark_make_no_other_text(palace: Store) -> None:
    first, _ = await stored("one\r\ntwo\r\n")
    assert first.content == "one\r\ntwo\r\n"
    assert await stored("one\ntwo\n") == (first, False)
    assert await stored("\ufeffone\ntwo\n") == (first, False)


async def test_a_copy_in_another_room_is_stored(palace: Store) -> None:
    await stored("text")
    assert (await stored("text", room="s"))[1]
    assert await count_drawers(palace) == 2


async def test_an_unnamed_copy_of_a_named_drawer_gives_that_drawer(palace: Store) -> None:
    named, _ = await stored("text", "name")
    assert await stored("text") == (named, False)


async def test_a_named_copy_of_an_unnamed_drawer_is_stored(palace: Store) -> None:
    unnamed, _ = await stored("text")
    named, created = await stored("text", "name")
    assert created
    assert named.id != unnamed.id
    assert await stored("text", "name") == (named, False)
    assert (await stored("text", "another name"))[1]
    assert await stored("text") == (unnamed, False)


async def test_a_name_holds_what_it_was_given_first(palace: Store) -> None:
    first, _ = await stored("text", "name")
    with pytest.raises(DrawerNameTaken, match="'name'"):
        await stored("another text", "name")
    assert (await services.show_drawer(CALLER, "w", "r", "name")).content == "text"
    assert await count_drawers(palace) == 1
    assert (await stored("another text", "name", room="s"))[0].id != first.id


async def test_a_drawer_that_has_ended_is_no_copy(palace: Store) -> None:
    first, _ = await stored("text")
    named, _ = await stored("named text", "name")
    await ended(palace, first)
    await ended(palace, named)
    second, created = await stored("text")
    assert created
    assert second.id != first.id
    assert (await stored("other text", "name"))[1]
    kept = await services.show_drawer(CALLER, "w", "r", first.id)
    assert (kept.content, kept.valid_to is None) == ("text", False)


async def test_a_mined_drawer_counts_as_a_copy(palace: Store) -> None:
    room, _ = await services.create_room(CALLER, "w", "r")
    at = now()
    mined = Drawer(
        id=new_id(),
        room=room.id,
        name=None,
        content="text",
        content_hash=content_hash("text"),
        source=Source("file"),
        tags=(),
        requested_by="cli",
        job_id=None,
        valid_from=at,
        valid_to=None,
        created_at=at,
        updated_at=at,
    )
    twin = replace(mined, id=new_id())
    await palace.transact(insert_drawers([mined, twin]))
    found, created = await stored("text")
    assert not created
    assert found.id in (mined.id, twin.id)


async def test_storing_a_copy_announces_nothing(palace: Store) -> None:
    await stored("text")
    before = len(await read_changes(palace, 0))
    await stored("text")
    assert len(await read_changes(palace, 0)) == before


async def test_a_drawer_is_stored_as_it_is_given_back(palace: Store) -> None:
    drawer, _ = await services.create_drawer(Caller(requested_by="a script"), "w", "r", "te\u2028xt\r\n", "n")
    assert await read_drawer(palace, drawer.id) == drawer
    assert (drawer.source, drawer.tags, drawer.requested_by) == (Source("manual"), (), "a script")
    assert (drawer.job_id, drawer.valid_to, drawer.supersedes) == (None, None, None)
    assert drawer.valid_from == drawer.created_at == drawer.updated_at


async def test_a_deleted_drawer_is_not_found_by_its_copy(palace: Store) -> None:
    first, _ = await stored("text")
    await services.delete_drawer(CALLER, "w", "r", first.id)
    second, created = await stored("text")
    assert created
    with pytest.raises(DrawerNotFound):
        await services.show_drawer(CALLER, "w", "r", first.id)
    assert (await services.show_drawer(CALLER, "w", "r", second.id)).content == "text"


async def test_a_copy_is_looked_up_and_never_searched_for_through_the_whole_room(palace: Store) -> None:
    plan = str(await palace.query(CURRENT_COPY.strip().removesuffix(";") + " EXPLAIN;", room="r", hash="h"))
    assert "drawer_room_hash" in plan
    assert "drawer_room_created" not in plan
