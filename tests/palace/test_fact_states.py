"""What a fact is at an instant: the states in their order, and which side of a conflict is shown first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain import facts
from palace.domain.facts import Fact, FactLink, FactProvenance, Lifecycle, LinkKind, LinkOrigin, State, lifecycle, preference

A, B, C = (f"00000000-0000-4000-8000-00000000000{letter}" for letter in "abc")
EXTRACTED = FactProvenance("drawer", "heuristic", "2026-01")


def fact(id: str = A, valid_from: str = "2026-02", valid_to: str | None = None, **changes: Any) -> Fact:
    found = Fact(id, "alice", "located_in", f"place of {id}", 0.6, valid_from, valid_to, provenance=EXTRACTED)
    return replace(found, **changes)


def link(from_id: str, to_id: str, kind: LinkKind, at: str = "2026-04", origin: LinkOrigin = LinkOrigin.EXPLICIT) -> FactLink:
    return facts.link(from_id, to_id, kind, origin, "because", at)


def at(moment: str, asked: Fact, *links: FactLink, others: tuple[Fact, ...] = ()) -> Lifecycle:
    return lifecycle(asked, links, {other.id: other for other in (asked, *others)}, moment)


SUPERSEDED = link(B, A, LinkKind.SUPERSEDES)
INVALIDATED = link(A, A, LinkKind.INVALIDATES)
CONTRADICTED = link(A, B, LinkKind.CONTRADICTS, origin=LinkOrigin.INFERRED)
CONFIRMED = link(A, B, LinkKind.CONFIRMS, origin=LinkOrigin.INFERRED)


@pytest.mark.parametrize(
    ("moment", "asked", "links", "state"),
    [
        pytest.param("2026-01", fact(), [], State.HISTORICAL, id="starts later"),
        pytest.param("2026-02", fact(), [], State.CURRENT, id="starts at that instant"),
        pytest.param("2026-05", fact(), [], State.CURRENT, id="open"),
        pytest.param("2026-03", fact(valid_to="2026-04"), [], State.CURRENT, id="ends later"),
        pytest.param("2026-04", fact(valid_to="2026-04"), [], State.HISTORICAL, id="ended at that instant"),
        pytest.param("2026-04", fact(valid_to="2026-04"), [SUPERSEDED], State.SUPERSEDED, id="replaced"),
        pytest.param("2026-04", fact(valid_to="2026-04"), [INVALIDATED], State.INVALIDATED, id="invalidated"),
        pytest.param(
            "2026-04", fact(valid_to="2026-04"), [INVALIDATED, SUPERSEDED], State.SUPERSEDED, id="replaced before invalidated"
        ),
        pytest.param("2026-04", fact(valid_to="2026-04"), [CONFIRMED], State.HISTORICAL, id="ended and confirmed"),
        pytest.param(
            "2026-01", fact(valid_to="2026-04"), [SUPERSEDED], State.HISTORICAL, id="starts later, replaced still later"
        ),
        pytest.param("2026-05", fact(), [SUPERSEDED], State.CURRENT, id="open though replaced"),
        pytest.param("2026-05", fact(), [CONFIRMED], State.CURRENT, id="confirmed"),
        pytest.param("2026-05", fact(), [CONTRADICTED], State.CONFLICTING, id="contradicted"),
        pytest.param("2026-05", fact(valid_to="2026-04"), [CONTRADICTED], State.HISTORICAL, id="ended and contradicted"),
    ],
)
def test_states(moment: str, asked: Fact, links: list[FactLink], state: State) -> None:
    assert at(moment, asked, *links, others=(fact(B),)).state is state


def test_the_fact_that_replaces_another_is_not_superseded() -> None:
    assert at("2026-05", fact(B, valid_to="2026-05"), SUPERSEDED).state is State.HISTORICAL


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(fact(B, valid_from="2026-06"), id="starts later"),
        pytest.param(fact(B, valid_to="2026-05"), id="has ended"),
    ],
)
def test_there_is_no_conflict_with_a_fact_that_does_not_hold_then(other: Fact) -> None:
    assert at("2026-05", fact(), CONTRADICTED, others=(other,)).state is State.CURRENT


def test_there_is_no_conflict_with_a_fact_that_is_gone() -> None:
    assert at("2026-05", fact(), CONTRADICTED).state is State.CURRENT


def test_an_explicit_link_counts_from_the_instant_it_was_recorded() -> None:
    decided = replace(CONTRADICTED, origin=LinkOrigin.EXPLICIT, at="2026-05")
    assert at("2026-04", fact(), decided, others=(fact(B),)) == Lifecycle(State.CURRENT)
    assert at("2026-05", fact(), decided, others=(fact(B),)).state is State.CONFLICTING


def test_an_inferred_link_always_counts() -> None:
    inferred = replace(CONTRADICTED, at="2027")
    assert at("2026-04", fact(), inferred, others=(fact(B),)).state is State.CONFLICTING


def test_a_correction_after_an_instant_leaves_what_was_seen_then() -> None:
    asked = fact(valid_to="2026-04")
    assert at("2026-03", asked, SUPERSEDED) == Lifecycle(State.CURRENT)
    assert at("2026-04", asked, SUPERSEDED) == Lifecycle(State.SUPERSEDED, (SUPERSEDED,))


@pytest.mark.parametrize(
    ("one", "other", "basis"),
    [
        ({"provenance": None, "assertion": "d1", "confidence": 0.1}, {"confidence": 0.9}, "asserted directly"),
        ({"provenance": None}, {"confidence": 0.9}, "asserted directly"),
        ({"confidence": 0.7, "valid_from": "2026-01"}, {"valid_from": "2026-03"}, "higher confidence"),
        ({"valid_from": "2026-03"}, {"id": C}, "later start of validity"),
        ({"id": C}, {"id": B}, "higher id"),
    ],
)
def test_which_side_of_a_conflict_is_preferred(one: dict[str, Any], other: dict[str, Any], basis: str) -> None:
    better, worse = fact(**({"id": A} | one)), fact(**({"id": B} | other))
    between = link(better.id, worse.id, LinkKind.CONTRADICTS, origin=LinkOrigin.INFERRED)
    for asked, rival in [(better, worse), (worse, better)]:
        found = at("2026-05", asked, between, others=(rival,))
        assert (found.state, found.preferred, found.basis) == (State.CONFLICTING, better.id, basis)


def test_a_preference_policy_weighs_confidence_anew() -> None:
    weights = {A: preference(0.6, 0, 0.08), B: preference(0.65, 30, -0.08)}
    assert weights == {A: 0.6 + 0.12 + 0.04, B: 0.65 + 0.06 - 0.04}
    sides = {A: fact(), B: fact(B, confidence=0.65)}
    found = lifecycle(sides[B], [CONTRADICTED], sides, "2026-05", trust=lambda each: weights[each.id])
    assert (found.preferred, found.basis) == (A, "higher confidence")
    assert preference(0.5, -3, 0.0) == 0.62, "a date to come is no fresher than today"


LINKS = st.lists(
    st.builds(
        link,
        st.sampled_from([A, B, C]),
        st.sampled_from([A, B, C]),
        st.sampled_from(LinkKind),
        st.sampled_from(["2026-03", "2026-05"]),
        st.sampled_from(LinkOrigin),
    ),
    max_size=8,
)
MOMENTS = st.sampled_from(["2026-01", "2026-02", "2026-03", "2026-04", "2026-05"])
FACTS = st.builds(fact, st.just(A), st.sampled_from(["2026-01", "2026-03"]), st.sampled_from([None, "2026-03", "2026-04"]))


@given(FACTS, LINKS, MOMENTS, st.randoms())
def test_the_order_of_links_does_not_matter(asked: Fact, links: list[FactLink], moment: str, random: Any) -> None:
    found = at(moment, asked, *links, others=(fact(B), fact(C)))
    shuffled = [*links, *links]
    random.shuffle(shuffled)
    assert at(moment, asked, *shuffled, others=(fact(C), fact(B))) == found


@given(FACTS, LINKS, MOMENTS)
def test_states_exclude_each_other(asked: Fact, links: list[FactLink], moment: str) -> None:
    found = at(moment, asked, *links, others=(fact(B), fact(C)))
    assert (found.state in (State.CURRENT, State.CONFLICTING)) is asked.holds_at(moment)
    assert (found.preferred is not None) is (found.basis is not None) is (found.state is State.CONFLICTING)
    assert all(asked.id in (link.from_id, link.to_id) for link in found.links)


def test_shapes() -> None:
    asked = fact(confidence=1.0, provenance=replace(EXTRACTED, job_id="j1", origin={"document": "a.md"}))
    shape = {"id": A, "from": "alice", "to": f"place of {A}", "predicate": "located_in", "confidence": 1.0}
    shape |= {"valid_from": "2026-02", "valid_to": None}
    provenance = {"drawer": "drawer", "extractor": "heuristic", "extracted_at": "2026-01"}
    assert asked.as_json() == shape | {"provenance": provenance | {"job_id": "j1", "origin": {"document": "a.md"}}}
    asserted = replace(asked, provenance=None, assertion="d1")
    assert asserted.as_json(Lifecycle(State.CURRENT)) == shape | {
        "assertion": "d1",
        "lifecycle": {"state": "current", "links": []},
    }
    disputed = Lifecycle(State.CONFLICTING, (CONTRADICTED,), A, "higher id")
    assert disputed.as_json() == {
        "state": "conflicting",
        "links": [CONTRADICTED.as_json()],
        "preferred": A,
        "basis": "higher id",
    }
