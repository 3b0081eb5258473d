"""The history of a fact: everything that links lead to, in both directions, in circles too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.facts import MOST_ROUNDS, Fact, FactLink, LinkKind, LinkOrigin, Walk, history, linked


def fact(id: str, valid_from: str = "2026") -> Fact:
    return Fact(id, "alice", "located_in", "berlin", 1.0, valid_from)


def link(ends: str, kind: LinkKind = LinkKind.REFINES) -> FactLink:
    from_id, to_id = ends.split("-")
    return FactLink(from_id, to_id, kind, LinkOrigin.EXPLICIT, "because", "2026")


@pytest.mark.parametrize("asked", "abcd")
def test_it_holds_all_that_links_lead_to(asked: str) -> None:
    links = [link("b-a"), link("b-c"), link("d-c"), link("x-y")]
    assert [found.id for found in history(asked, map(fact, "abcdxy"), links)] == list("abcd")


def test_a_fact_without_links_is_its_own_history() -> None:
    assert [found.id for found in history("a", map(fact, "ab"), [link("a-a", LinkKind.INVALIDATES)])] == ["a"]


def test_it_is_ordered_by_start_of_validity_then_id() -> None:
    facts = [fact("d", "2025"), fact("b", "2026"), fact("a", "2027"), fact("c", "2025")]
    assert [found.id for found in history("a", facts, [link("a-b"), link("b-c"), link("c-d")])] == ["c", "d", "b", "a"]


def test_facts_that_start_after_the_instant_are_left_out_but_lead_on() -> None:
    facts = [fact("a", "2025"), fact("b", "2027"), fact("c", "2026")]
    assert [found.id for found in history("a", facts, [link("a-b"), link("b-c")], "2026")] == ["a", "c"]


def test_a_fact_that_is_gone_is_left_out_but_leads_on() -> None:
    assert [found.id for found in history("a", [fact("a"), fact("c")], [link("a-b"), link("b-c")])] == ["a", "c"]


@pytest.mark.parametrize("asked", "abc")
def test_a_circle_ends(asked: str) -> None:
    walk = linked(asked, [link("a-b"), link("b-c"), link("c-a")])
    assert (walk.reached, walk.cut) == (frozenset("abc"), False)


def test_a_walk_takes_at_most_a_hundred_rounds_and_says_when_links_are_left() -> None:
    assert MOST_ROUNDS == 100
    links = [link(f"{at:03}-{at + 1:03}") for at in range(200)]
    walk = linked("000", links)
    assert (len(walk.reached), walk.cut) == (101, True)
    assert len(linked("100", links).reached) == 201, "both directions are walked in one round"
    assert not linked("000", links[:99]).cut


def test_a_walk_of_exactly_a_hundred_rounds_may_have_seen_everything() -> None:
    walk = linked("000", [link(f"{at:03}-{at + 1:03}") for at in range(99)])
    assert (walk.rounds, walk.cut, len(walk.reached)) == (100, False, 100)


EDGES = st.lists(st.builds("{}-{}".format, st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=10)


@given(EDGES, st.randoms())
def test_every_fact_of_a_history_has_the_same_history(edges: list[str], random: object) -> None:
    links = [link(ends) for ends in edges]
    reached = linked("a", links).reached
    random.shuffle(links)  # type: ignore[attr-defined]
    assert all(linked(other, links).reached == reached for other in reached)


@given(EDGES)
def test_links_that_do_not_touch_the_frontier_are_not_followed(edges: list[str]) -> None:
    walk = Walk.start("a").step(link(ends) for ends in edges)
    neighbours = {end for ends in edges if "a" in ends.split("-") for end in ends.split("-")}
    assert walk.reached == neighbours | {"a"}
    assert walk.frontier == neighbours - {"a"}
