"""Clients that do the same, or the opposite, at the same instant."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from palace import services
from palace.domain.drawer import Drawer
from palace.domain.modes import Caller
from palace.errors import DrawerNameTaken, MemCastleError, PalaceBusy, RoomNotFound, WingNotFound
from palace.store import Store
from palace.store.drawers import count_drawers

CALLER = Caller(requested_by="test")
CLIENTS = 8


async def at_once(*asked: Coroutine[Any, Any, Any]) -> list[Any]:
    return await asyncio.gather(*asked, return_exceptions=True)


def require_one_creator(outcomes: Sequence[Any]) -> None:
    """Everybody was given the same thing, and one of them made it."""
    assert len({made.id for made, _ in outcomes}) == 1
    assert sorted(created for _, created in outcomes) == [False] * (len(outcomes) - 1) + [True]


async def test_the_same_wing_the_same_room_the_same_text(palace: Store) -> None:
    require_one_creator(await at_once(*(services.create_wing(CALLER, "w") for _ in range(CLIENTS))))
    require_one_creator(await at_once(*(services.create_room(CALLER, "w", "r") for _ in range(CLIENTS))))
    require_one_creator(await at_once(*(services.create_drawer(CALLER, "w", "r", "text") for _ in range(CLIENTS))))
    require_one_creator(await at_once(*(services.create_drawer(CALLER, "w", "r", "text", "name") for _ in range(CLIENTS))))


async def test_the_same_text_into_a_wing_that_nobody_has_made_yet(palace: Store) -> None:
    require_one_creator(await at_once(*(services.create_drawer(CALLER, "new", "r", "text") for _ in range(CLIENTS))))
    (wing,) = await services.list_wings(CALLER)
    assert (wing.rooms, wing.drawers) == (1, 1)


async def test_other_texts_into_a_wing_that_nobody_has_made_yet(palace: Store) -> None:
    outcomes = await at_once(*(services.create_drawer(CALLER, "new", "r", f"text {n}") for n in range(CLIENTS)))
    assert all(created for _, created in outcomes)
    (wing,) = await services.list_wings(CALLER)
    assert (wing.rooms, wing.drawers) == (1, CLIENTS)


async def test_other_texts_under_one_name(palace: Store) -> None:
    outcomes = await at_once(*(services.create_drawer(CALLER, "w", "r", f"text {n}", "name") for n in range(CLIENTS)))
    winners = [outcome for outcome in outcomes if not isinstance(outcome, DrawerNameTaken)]
    assert [created for _, created in winners] == [True]
    assert (await services.show_drawer(CALLER, "w", "r", "name")).id == winners[0][0].id
    assert await count_drawers(palace) == 1


async def require_everything_has_its_place(palace: Store) -> None:
    homeless = await palace.query(
        """SELECT VALUE id FROM room WHERE !record::exists(type::record('wing', wing));
        SELECT VALUE id FROM drawer WHERE !record::exists(type::record('room', room));"""
    )
    assert homeless == [[], []]
    assert await count_drawers(palace) == sum(wing.drawers for wing in await services.list_wings(CALLER))


async def test_a_wing_deleted_while_texts_go_into_it_leaves_no_orphans(palace: Store) -> None:
    async def write(client: int) -> None:
        for number in range(6):
            try:
                await services.create_drawer(CALLER, "w", f"room {client}", f"text {client} {number}")
            except PalaceBusy:
                continue

    async def delete() -> None:
        for _ in range(12):
            try:
                await services.delete_wing(CALLER, "w")
            except WingNotFound:
                await asyncio.sleep(0)

    assert await at_once(*map(write, range(CLIENTS)), delete(), delete()) == [None] * (CLIENTS + 2)
    await require_everything_has_its_place(palace)


async def test_a_room_deleted_while_texts_go_into_it_leaves_no_orphans(palace: Store) -> None:
    async def write(client: int) -> None:
        for number in range(6):
            try:
                await services.create_drawer(CALLER, "w", "r", f"text {client} {number}")
            except PalaceBusy:
                continue

    async def delete() -> None:
        for _ in range(12):
            try:
                await services.delete_room(CALLER, "w", "r")
            except (WingNotFound, RoomNotFound):
                await asyncio.sleep(0)

    assert await at_once(*map(write, range(CLIENTS)), delete(), delete()) == [None] * (CLIENTS + 2)
    await require_everything_has_its_place(palace)


async def test_a_text_stored_while_its_wing_is_deleted_is_there_or_gone_with_it(palace: Store) -> None:
    """Whoever was told that a text is stored finds it, unless the deletion came after."""
    for number in range(10):
        await services.create_room(CALLER, "w", "r")
        stored, deleted = await at_once(
            services.create_drawer(CALLER, "w", "r", f"text {number}"), services.delete_wing(CALLER, "w")
        )
        assert not isinstance(stored, BaseException) or isinstance(stored, MemCastleError)
        assert deleted.wings == 1
        await require_everything_has_its_place(palace)
        wings = await services.list_wings(CALLER)
        if wings and isinstance(stored, tuple):
            drawer: Drawer = stored[0]
            assert (await services.show_drawer(CALLER, "w", "r", drawer.id)).content == f"text {number}"
            await services.delete_wing(CALLER, "w")


async def test_a_drawer_deleted_twice_at_once_is_deleted(palace: Store) -> None:
    drawer, _ = await services.create_drawer(CALLER, "w", "r", "text")
    outcomes = await at_once(*(services.delete_drawer(CALLER, "w", "r", drawer.id) for _ in range(3)))
    assert any(not isinstance(outcome, Exception) for outcome in outcomes)
    assert all(not isinstance(outcome, Exception) or isinstance(outcome, MemCastleError) for outcome in outcomes)
    assert await count_drawers(palace) == 0
