"""What was acknowledged is found by the very next search, and what was deleted by none."""

from __future__ import annotations

import asyncio

from palace import services
from palace.clock import now
from palace.domain.drawer import Closing
from palace.store import Store
from palace.store.drawers import close_drawers
from tests.search.support import CALLER, drawer, found, put, room


async def test_a_drawer_is_found_as_soon_as_it_is_stored(palace: Store) -> None:
    for number in range(25):
        text = f"freshly written {number}x"
        await services.create_drawer(CALLER, "w", "r", text)
        assert await found(f"{number}x") == [text]


async def test_writers_side_by_side_find_their_own(palace: Store) -> None:
    async def write(client: str) -> None:
        for thing in ("anvil", "bell", "candle", "drum", "easel"):
            text = f"{client} wrote of one {thing}"
            await services.create_drawer(CALLER, "w", f"room of {client}", text)
            assert await found(f"{client} {thing}") == [text]

    await asyncio.gather(*map(write, ("alice", "bob", "charlie", "dora", "emil", "frida")))
    assert len(await found("wrote", limit=200)) == 30


async def test_a_deleted_drawer_is_not_found(palace: Store) -> None:
    text, _ = await services.create_drawer(CALLER, "w", "r", "apple")
    await services.create_drawer(CALLER, "w", "r", "apple pie")
    await services.delete_drawer(CALLER, "w", "r", text.id)
    assert await found("apple", include_historical=True) == ["apple pie"]


async def test_nothing_of_a_deleted_room_or_wing_is_found(palace: Store) -> None:
    for wing, place in (("a", "x"), ("a", "y"), ("b", "x")):
        await services.create_drawer(CALLER, wing, place, f"apple {wing} {place}")
    await services.delete_room(CALLER, "a", "x")
    assert sorted(await found("apple", include_historical=True)) == ["apple a y", "apple b x"]
    await services.delete_wing(CALLER, "a")
    assert await found("apple", include_historical=True) == ["apple b x"]
    await services.create_drawer(CALLER, "a", "x", "apple again")
    assert sorted(await found("apple")) == ["apple again", "apple b x"]
    assert await found("apple", wing="a", room="x") == ["apple again"]


async def test_a_drawer_that_ended_is_history_at_once(palace: Store) -> None:
    old, _ = await services.create_drawer(CALLER, "w", "r", "apple old")
    await palace.transact(close_drawers([Closing(old.id, now())]))
    assert await found("apple") == []
    assert await found("apple", include_historical=True) == ["apple old"]
    assert await found("apple", as_of=old.valid_from) == ["apple old"]


async def test_many_drawers_of_one_transaction_are_found_together(palace: Store) -> None:
    place = await room()
    await put(palace, *(drawer(place, f"apple number{n}") for n in range(300)))
    assert len(await found("apple", limit=200)) == 200
    assert await found("number299") == ["apple number299"]
