"""Filters narrow what may answer before anything is ranked or counted."""

from __future__ import annotations

import pytest

from palace import services
from palace.domain.ids import new_id
from palace.domain.modes import Caller, MemoryMode
from palace.errors import ModeForbidden
from palace.store import Store
from search.domain.query import query_from_text
from search.errors import SemanticUnavailable
from search.services import search
from tests.search.support import CALLER, drawer, found, hits, put, room


async def furnished(palace: Store) -> None:
    for wing, place in (("a", "x"), ("a", "y"), ("b", "x"), ("A", "x")):
        await put(palace, drawer(await room(wing, place), f"apple in {wing} {place}"))


async def test_wing_and_room_by_name(palace: Store) -> None:
    await furnished(palace)
    assert sorted(await found("apple", wing="a")) == ["apple in a x", "apple in a y"]
    assert sorted(await found("apple", room="x")) == ["apple in A x", "apple in a x", "apple in b x"]
    assert await found("apple", wing="a", room="y") == ["apple in a y"]
    assert await found("apple", wing="b", room="y") == []


async def test_what_is_not_a_name_finds_nothing(palace: Store) -> None:
    await furnished(palace)
    wing = (await services.show_wing(CALLER, "a"))[0]
    for scope in ({"wing": wing.id}, {"wing": "nowhere"}, {"room": "nowhere"}, {"wing": ""}, {"room": ""}, {"wing": " a"}):
        assert await found("apple", **scope) == [], scope
    assert await found("apple", wing="a", room=(await services.show_room(CALLER, "a", "x")).id) == []


async def test_an_empty_wing_finds_nothing(palace: Store) -> None:
    await furnished(palace)
    await services.create_wing(CALLER, "empty")
    assert await found("apple", wing="empty") == []


async def test_hits_tell_where_they_stand(palace: Store) -> None:
    await furnished(palace)
    (hit,) = await hits("apple", wing="b")
    assert (hit.wing_name, hit.room_name) == ("b", "x")


async def test_a_drawer_must_carry_every_tag(palace: Store) -> None:
    place = await room()
    for tags in ((), ("red",), ("red", "green"), ("red", "green", "blue"), ("Red",), ("with space", "图"), ("a,b",)):
        await put(palace, drawer(place, f"apple {'+'.join(tags)}", tags=tags))
    assert len(await found("apple", tags="red")) == 3
    assert sorted(await found("apple", tags=" red , green,,")) == ["apple red+green", "apple red+green+blue"]
    assert await found("apple", tags=["red", "green", "blue"]) == ["apple red+green+blue"]
    assert await found("apple", tags="Red") == ["apple Red"]
    assert await found("apple", tags="图,with space") == ["apple with space+图"]
    assert await found("apple", tags=["a,b"]) == ["apple a,b"]
    assert await found("apple", tags="red,none") == []
    assert len(await found("apple", tags=" , ")) == 7


@pytest.mark.parametrize("kind", ["file", "manual", "transcript", "note", "other"])
async def test_one_kind_of_source(palace: Store, kind: str) -> None:
    place = await room()
    await put(palace, *(drawer(place, f"apple {k}", kind=k) for k in ("file", "manual", "transcript", "note", "other")))
    assert await found("apple", source_kind=kind) == [f"apple {kind}"]
    assert await found("apple", source_kind=f" {kind.upper()} ") == [f"apple {kind}"]


async def test_filters_join(palace: Store) -> None:
    here, there = await room("a", "x"), await room("b", "x")
    await put(
        palace,
        drawer(here, "apple 1", kind="file", tags=("t",)),
        drawer(here, "apple 2", kind="file"),
        drawer(here, "apple 3", tags=("t",)),
        drawer(there, "apple 4", kind="file", tags=("t",)),
    )
    assert await found("apple", wing="a", room="x", source_kind="file", tags="t") == ["apple 1"]


async def test_the_scope_comes_before_the_limit(palace: Store) -> None:
    """Better matches outside the scope do not use up its places."""
    loud = await room("loud")
    await put(palace, *(drawer(loud, f"apple apple apple {n}") for n in range(30)))
    await put(palace, drawer(await room("quiet"), "one apple among many other words in a long and quiet text"))
    assert len(await found("apple", wing="quiet", limit=1)) == 1


async def test_a_limit_is_ten_and_at_most_two_hundred(palace: Store) -> None:
    place = await room()
    await put(palace, *(drawer(place, f"apple number{n}") for n in range(205)))
    for limit, given in ((None, 10), (0, 10), (1, 1), (11, 11), (200, 200), (201, 200), (2**32 - 1, 200)):
        assert len(await found("apple", limit=limit)) == given


async def test_lexical_and_auto_are_the_same_here_and_vectors_are_not_to_be_had(palace: Store) -> None:
    await furnished(palace)
    assert await found("apple", ranking="lexical") == await found("apple", ranking="auto") == await found("apple")
    for ranking in ("semantic", "hybrid", " Semantic "):
        for text in ("apple", "", " "):
            with pytest.raises(SemanticUnavailable):
                await found(text, ranking=ranking)


async def test_expansion_without_a_graph_adds_nothing(palace: Store) -> None:
    await furnished(palace)
    assert await found("apple", expand=True) == await found("apple")


async def test_a_disabled_session_is_refused_and_never_shown_an_empty_answer(palace: Store) -> None:
    for query in ("apple", ""):
        with pytest.raises(ModeForbidden, match="search"):
            await search(Caller(MemoryMode.DISABLED), query_from_text(q=query))
    assert await search(Caller(MemoryMode.READ_ONLY), query_from_text(q="apple", wing=new_id())) == []
