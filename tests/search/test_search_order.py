"""The same search gives the same order, every time and at every limit."""

from __future__ import annotations

import random

from palace import services
from palace.domain.ids import new_id
from palace.store import Store
from tests.search.support import CALLER, drawer, hits, put, room


async def order(q: str, **options: object) -> list[str]:
    return [hit.drawer.id for hit in await hits(q, **options)]


async def test_equal_texts_come_by_id(palace: Store) -> None:
    """Stored one by one into rooms of their own, in no order of ids."""
    ids = [new_id() for _ in range(40)]
    for number, id in enumerate(random.Random(1).sample(ids, 40)):
        await put(palace, drawer(await room("w", f"room {number}"), "the same apple", id=id))
    rest = await room("w", "rest")
    await put(palace, *(drawer(rest, f"pear {number}") for number in range(60)))
    assert await order("apple", limit=200) == sorted(ids)
    for limit in (1, 7, 39):
        assert await order("apple", limit=limit) == sorted(ids)[:limit]
    assert await order("apple same", limit=200) == sorted(ids)
    assert await order("apple unheard-of", limit=200) == sorted(ids)


async def test_texts_that_score_nothing_come_by_id(palace: Store) -> None:
    place = await room()
    await put(palace, *(drawer(place, "apple") for _ in range(20)))
    found = await order("apple", limit=200)
    assert found == sorted(found)
    assert len(found) == 20


async def test_a_larger_limit_only_adds(palace: Store) -> None:
    place = await room()
    chance = random.Random(2)
    await put(palace, *(drawer(place, " ".join(chance.choices(["apple", "pear", "plum", "fig"], k=9))) for _ in range(60)))
    for query in ("apple", "apple pear", "GitHub apple"):
        everything = await order(query, limit=200)
        for limit in (1, 5, 10, 30):
            assert await order(query, limit=limit) == everything[:limit]


async def test_scores_fall(palace: Store) -> None:
    place = await room()
    await put(palace, *(drawer(place, "apple " * n + "pear " * (20 - n)) for n in range(1, 20)), drawer(place, "plum"))
    scores = [hit.score for hit in await hits("apple", limit=200)]
    assert scores == sorted(scores, reverse=True)


async def test_the_same_search_again_is_the_same_answer(palace: Store) -> None:
    for number in range(12):
        await services.create_drawer(CALLER, "w", f"room {number % 3}", f"apple and pear number {number}")
    first = await hits("apple pear")
    assert [await hits("apple pear") for _ in range(3)] == [first] * 3
