"""A listing gives the newest drawers of a room with their beginnings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from palace import services
from palace.domain.drawer import Drawer, Origin, Source
from palace.domain.ids import new_id
from palace.domain.modes import Caller, MemoryMode
from palace.domain.texts import content_hash
from palace.errors import ModeForbidden, RoomNotFound, WingNotFound
from palace.store import Store
from palace.store.drawers import insert_drawers

CALLER = Caller(requested_by="test")
AT = "2026-03-01T00:00:0{}.000000000Z"


def drawer(room: str, number: int, content: str = "text", **fields: object) -> Drawer:
    made = Drawer(
        id=new_id(),
        room=room,
        name=None,
        content=content,
        content_hash=content_hash(content),
        source=Source("manual"),
        tags=(),
        requested_by="test",
        job_id=None,
        valid_from=AT.format(number),
        valid_to=None,
        created_at=AT.format(number),
        updated_at=AT.format(number),
    )
    return replace(made, **fields)  # type: ignore[arg-type]


async def room_of(palace: Store, drawers: int = 0) -> str:
    room, _ = await services.create_room(CALLER, "w", "r")
    if drawers:
        await palace.transact(insert_drawers(drawer(room.id, 0, f"text {number}") for number in range(drawers)))
    return room.id


async def test_the_newest_come_first_and_those_of_one_instant_by_id(palace: Store) -> None:
    room = await room_of(palace)
    made = [drawer(room, number // 3, f"text {number}") for number in range(9)]
    await palace.transact(insert_drawers(made))
    listed = [summary.id for summary in await services.list_drawers(CALLER, "w", "r")]
    oldest_last = sorted(made, key=lambda drawer: drawer.id)
    oldest_last.sort(key=lambda drawer: drawer.created_at, reverse=True)
    assert listed == [drawer.id for drawer in oldest_last]
    assert [summary.id for summary in await services.list_drawers(CALLER, "w", "r", 4)] == listed[:4]


async def test_a_page_is_fifty_and_never_more_than_two_hundred(palace: Store) -> None:
    await room_of(palace, 205)
    for limit, given in ((None, 50), (0, 50), (1, 1), (200, 200), (201, 200), (2**32 - 1, 200)):
        assert len(await services.list_drawers(CALLER, "w", "r", limit)) == given


async def test_the_preview_counts_characters_and_not_bytes(palace: Store) -> None:
    contents = (
        *("short", "x" * 120, "x" * 121, "é" * 300, "🜁" * 300, "图数据库" * 100, "e\u0301" * 200),
        *("👩‍👩‍👧" * 50, "line one\nline two\r\n" * 40, "\ufeffafter a mark"),
    )
    for content in contents:
        await services.create_drawer(CALLER, "w", "r", content)
        newest = (await services.list_drawers(CALLER, "w", "r", 1))[0]
        assert (newest.preview, newest.chars) == (content[:120], len(content))


async def test_ended_drawers_are_listed_too(palace: Store) -> None:
    room = await room_of(palace)
    await palace.transact(insert_drawers([drawer(room, 1, valid_to=AT.format(2)), drawer(room, 2, "other")]))
    assert len(await services.list_drawers(CALLER, "w", "r")) == 2
    assert (await services.show_room(CALLER, "w", "r")).drawers == 2


async def test_a_mined_drawer_says_where_it_came_from(palace: Store) -> None:
    room = await room_of(palace)
    origin = Origin(new_id(), "directory", "a/b.md", 3, "rev", {"title": "t"}, AT.format(0))
    mined = drawer(room, 1, source=Source("file", "/a/b.md", "agent", origin), name="n")
    await palace.transact(insert_drawers([mined]))
    (summary,) = await services.list_drawers(CALLER, "w", "r")
    assert (summary.source, summary.name, summary.created_at) == (mined.source, "n", AT.format(1))


async def test_a_room_shows_only_its_own(palace: Store) -> None:
    await services.create_drawer(CALLER, "w", "r", "here")
    await services.create_drawer(CALLER, "w", "s", "there")
    await services.create_drawer(CALLER, "v", "r", "elsewhere")
    assert [summary.preview for summary in await services.list_drawers(CALLER, "w", "r")] == ["here"]


async def test_what_is_not_there_has_no_listing(palace: Store) -> None:
    await room_of(palace)
    assert await services.list_drawers(CALLER, "w", "r") == []
    with pytest.raises(WingNotFound):
        await services.list_drawers(CALLER, "v", "r")
    with pytest.raises(RoomNotFound):
        await services.list_drawers(CALLER, "w", "s")
    with pytest.raises(ModeForbidden, match="drawer_list"):
        await services.list_drawers(Caller(MemoryMode.DISABLED), "v", "r")
