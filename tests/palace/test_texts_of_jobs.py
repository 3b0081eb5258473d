"""A text that a job files: stored once, with what the job commits beside it, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from palace import services
from palace.clock import now
from palace.domain.drawer import Closing, Source
from palace.domain.ids import new_id
from palace.domain.modes import Caller, MemoryMode
from palace.errors import DrawerNameTaken, ModeForbidden, PalaceBusy, PathInvalid
from palace.services import Item, items
from palace.store import Fragment, Store, TransactionRefused
from palace.store.changes import read_changes
from palace.store.drawers import close_drawers, count_drawers, read_drawer

CALLER = Caller(requested_by="a script")
JOB = new_id()


def item(content: str = "text", name: str | None = None) -> Item:
    return Item(new_id(), "w", "r", content, name, Source("note", "file:///n", "ada"), ("one", "two"), JOB)


def nothing(stored: bool) -> Fragment:
    return Fragment("")


def recording(told: list[bool]) -> Callable[[bool], Fragment]:
    """What a job commits beside a text; remembers what it was told."""

    def along(stored: bool) -> Fragment:
        told.append(stored)
        return Fragment("")

    return along


async def test_a_text_is_stored_with_where_it_comes_from(palace: Store) -> None:
    wanted = item(name="a/name")
    assert await services.file_item(CALLER, wanted, nothing)
    drawer = await services.show_drawer(CALLER, "w", "r", "a/name")
    assert (drawer.id, drawer.content, drawer.source, drawer.tags) == (wanted.id, "text", wanted.source, ("one", "two"))
    assert (drawer.requested_by, drawer.job_id, drawer.valid_to) == ("a script", JOB, None)


async def test_missing_places_are_made_and_told_in_the_same_transaction(palace: Store) -> None:
    await services.file_item(CALLER, item(), nothing)
    (stamped,) = await read_changes(palace, 0)
    assert [(entry["kind"], entry["action"]) for entry in stamped.entries] == [
        ("wing", "created"),
        ("room", "created"),
        ("drawer", "created"),
    ]


async def test_a_text_that_the_room_holds_is_not_stored_again(palace: Store) -> None:
    told: list[bool] = []
    await services.create_drawer(CALLER, "w", "r", "text")
    await services.create_drawer(CALLER, "w", "r", "named", "n")
    along = recording(told)
    assert [await services.file_item(CALLER, wanted, along) for wanted in (item(), item("named", "n"), item("text", "m"))] == [
        False,
        False,
        True,
    ]
    assert told == [False, False, True]
    assert await count_drawers(palace) == 3


async def test_a_text_filed_again_under_its_id_is_the_same_and_no_duplicate(palace: Store) -> None:
    for wanted in (item(), item("other", "n")):
        assert await services.file_item(CALLER, wanted, nothing)
        assert await services.file_item(CALLER, wanted, nothing)
    assert await count_drawers(palace) == 2


async def test_a_text_that_was_filed_and_has_ended_since_does_not_come_back(palace: Store) -> None:
    wanted = item()
    await services.file_item(CALLER, wanted, nothing)
    await palace.transact(close_drawers([Closing(wanted.id, now())]))
    assert await services.file_item(CALLER, wanted, nothing)
    assert await count_drawers(palace) == 1


async def test_a_name_with_other_content_is_refused_and_nothing_is_committed(palace: Store) -> None:
    told: list[bool] = []
    await services.create_drawer(CALLER, "w", "r", "text", "n")
    with pytest.raises(DrawerNameTaken, match="'n'"):
        await services.file_item(CALLER, item("other", "n"), recording(told))
    assert told == []


async def test_what_the_job_refuses_leaves_no_drawer_and_no_place(palace: Store) -> None:
    with pytest.raises(TransactionRefused) as refused:
        await services.file_item(CALLER, item(), lambda stored: Fragment("THROW 'lease_lost';"))
    assert refused.value.reason == "lease_lost"
    assert (await count_drawers(palace), await services.list_wings(CALLER)) == (0, [])


async def test_the_mode_and_the_name_of_a_new_wing_are_checked(palace: Store) -> None:
    with pytest.raises(ModeForbidden, match="checkpoint"):
        await services.file_item(Caller(MemoryMode.READ_ONLY), item(), nothing)
    with pytest.raises(PathInvalid, match="'a/b'"):
        await services.file_item(CALLER, replace(item(), wing="a/b"), nothing)


async def test_two_jobs_with_the_same_texts_at_once_store_each_of_them_once(palace: Store) -> None:
    jobs = [[item(f"text {number}") for number in range(6)] for _ in range(4)]

    async def file(wanted: list[Item]) -> list[bool]:
        return [await services.file_item(CALLER, one, nothing) for one in wanted]

    stored = await asyncio.gather(*map(file, jobs))
    assert [sum(answers) for answers in zip(*stored, strict=True)] == [1] * 6
    assert await count_drawers(palace) == 6


@pytest.mark.parametrize("what", ["room", "wing"])
async def test_a_place_that_is_deleted_under_way_is_made_anew(
    palace: Store, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The deletion comes between the look at the place and the transaction."""
    await services.create_drawer(CALLER, "w", "r" if what == "room" else "another room", "before")
    real, deletions = (
        items.resolve_place,
        [services.delete_room(CALLER, "w", "r") if what == "room" else services.delete_wing(CALLER, "w")],
    )

    async def deleted_in_between(*arguments: Any, **options: Any) -> Any:
        place = await real(*arguments, **options)
        while deletions:
            await deletions.pop()
        return place

    monkeypatch.setattr(items, "resolve_place", deleted_in_between)
    wanted = item()
    assert await services.file_item(CALLER, wanted, nothing)
    assert (await services.show_drawer(CALLER, "w", "r", wanted.id)).content == "text"
    assert await count_drawers(palace) == 1
    assert await orphans(palace) == [[], []]


async def test_a_place_that_another_daemon_deletes_at_that_moment_moves_in_one_piece(
    palace: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two daemons of one database do not see each other's open transactions: the place is gone right after the commit."""
    real, gone, told = items.place_stands, [True], list[bool]()

    async def deleted_by_another(store: Store, wing: str, room: str) -> bool:
        if gone:
            gone.clear()
            await store.query("DELETE type::record('room', $room); DELETE type::record('wing', $wing);", room=room, wing=wing)
        return await real(store, wing, room)

    monkeypatch.setattr(items, "place_stands", deleted_by_another)
    wanted = item(name="n")
    assert await services.file_item(CALLER, wanted, recording(told))
    assert (await services.show_drawer(CALLER, "w", "r", "n")).id == wanted.id
    assert (told, await count_drawers(palace), await orphans(palace)) == ([True, True], 1, [[], []])


async def test_a_place_that_never_stands_still_is_reported(palace: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def gone(store: Store, wing: str, room: str) -> bool:
        await store.query("DELETE type::record('room', $room); DELETE type::record('wing', $wing);", room=room, wing=wing)
        return False

    monkeypatch.setattr(items, "place_stands", gone)
    with pytest.raises(PalaceBusy, match="'r'"):
        await services.file_item(CALLER, item(), nothing)


async def orphans(palace: Store) -> list[Any]:
    return await palace.query(
        """SELECT VALUE id FROM room WHERE !record::exists(type::record('wing', wing));
        SELECT VALUE id FROM drawer WHERE !record::exists(type::record('room', room));"""
    )


async def test_an_orphan_is_removed_and_told_with_what_the_job_commits(palace: Store) -> None:
    wanted = item()
    await services.file_item(CALLER, wanted, nothing)
    room = (await services.show_room(CALLER, "w", "r")).id
    along = Fragment("UPDATE type::record('wing', 'none');")
    assert not await services.remove_orphan(CALLER, wanted.id, room, along)
    assert not await services.remove_orphan(CALLER, wanted.id, new_id(), along)
    await palace.query("DELETE type::record('room', $room);", room=room)
    before = len(await read_changes(palace, 0))
    assert not await services.remove_orphan(CALLER, wanted.id, new_id(), along)
    with pytest.raises(TransactionRefused, match="lease_lost"):
        await services.remove_orphan(CALLER, wanted.id, room, Fragment("THROW 'lease_lost';"))
    assert await read_drawer(palace, wanted.id) is not None
    assert await services.remove_orphan(CALLER, wanted.id, room, along)
    assert not await services.remove_orphan(CALLER, wanted.id, room, along)
    assert await read_drawer(palace, wanted.id) is None
    told = (await read_changes(palace, 0))[before:]
    assert [stamped.entries for stamped in told] == [({"kind": "drawer", "action": "deleted", "id": wanted.id},)]


async def test_removing_an_orphan_writes_memory(palace: Store) -> None:
    with pytest.raises(ModeForbidden, match="repair"):
        await services.remove_orphan(Caller(MemoryMode.READ_ONLY), new_id(), new_id(), Fragment(""))
