"""The versions of a drawer: oldest first, from whichever of them is asked, up to a deleted one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.drawer import Drawer, Source
from palace.domain.history import Chain, versions

NOW = "2026-12-01T00:00:00.000000000Z"


def drawer(id: str, supersedes: str | None = None, superseded_by: str | None = None) -> Drawer:
    return Drawer(
        id=id,
        room="room",
        name=None,
        content=f"text of {id}",
        content_hash=id,
        source=Source("manual"),
        tags=(),
        requested_by="test",
        job_id=None,
        valid_from=NOW,
        valid_to=NOW if superseded_by else None,
        created_at=NOW,
        updated_at=NOW,
        supersedes=supersedes,
        superseded_by=superseded_by,
    )


def line(ids: str) -> dict[str, Drawer]:
    return {id: drawer(id, ids[at - 1] if at else None, ids[at + 1 : at + 2] or None) for at, id in enumerate(ids)}


def ids(found: tuple[Drawer, ...]) -> str:
    return "".join(version.id for version in found)


@pytest.mark.parametrize("asked", "abcd")
def test_every_version_leads_to_all_of_them(asked: str) -> None:
    drawers = line("abcd")
    assert ids(versions(drawers[asked], drawers)) == "abcd"


def test_a_drawer_that_was_never_corrected_is_its_only_version() -> None:
    assert ids(versions(drawer("a"), line("bc"))) == "a"


@pytest.mark.parametrize(("asked", "expected"), [("a", "ab"), ("b", "ab"), ("d", "de"), ("e", "de")])
def test_the_versions_end_at_a_deleted_one(asked: str, expected: str) -> None:
    drawers = line("abcde")
    del drawers["c"]
    assert ids(versions(drawers[asked], drawers)) == expected


@pytest.mark.parametrize("asked", "abc")
def test_a_circle_is_walked_once(asked: str) -> None:
    drawers = {"a": drawer("a", "c", "b"), "b": drawer("b", "a", "c"), "c": drawer("c", "b", "a")}
    assert sorted(ids(versions(drawers[asked], drawers))) == ["a", "b", "c"]


def test_a_drawer_that_replaces_itself_is_one_version() -> None:
    itself = drawer("a", "a", "a")
    assert ids(versions(itself, {"a": itself})) == "a"
    assert (Chain((itself,)).older, Chain((itself,)).newer) == (None, None)


@given(st.integers(0, 6), st.permutations("abcdefg"))
def test_a_chain_read_link_by_link_is_the_whole_chain(asked: int, order: list[str]) -> None:
    stored = line("".join(order))
    chain = Chain((stored[order[asked]],))
    looked_up = []
    while wanted := [id for id in (chain.older, chain.newer) if id is not None]:
        looked_up += wanted
        chain = chain.extended({id: stored[id] for id in wanted})
    assert ids(chain.versions) == "".join(order)
    assert sorted(looked_up) == sorted(set(order) - {order[asked]}), "each was looked up once"
