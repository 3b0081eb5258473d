"""Decisions between facts: their ids, and what the policy infers by itself."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.facts import (
    Fact,
    FactLink,
    FactProvenance,
    LinkKind,
    LinkOrigin,
    inferred_link,
    inferred_links,
    inferred_successions,
    link,
)

LOW, HIGH = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
OTHERS = ["00000000-0000-4000-8000-000000000003", "00000000-0000-4000-8000-000000000004"]
NOW = "2026-12-01T00:00:00.000000000Z"
SYMMETRIC = [LinkKind.CONFIRMS, LinkKind.CONTRADICTS]
DIRECTED = [LinkKind.SUPERSEDES, LinkKind.REFINES, LinkKind.INVALIDATES]


def decided(from_id: str, to_id: str, kind: LinkKind, evidence: str | None = None) -> FactLink:
    return link(from_id, to_id, kind, LinkOrigin.EXPLICIT, "because", NOW, evidence)


def fact(id: str, object: str = "berlin", predicate: str = "located_in", **changes: Any) -> Fact:
    drawer = changes.pop("drawer", f"drawer of {id}")
    provenance = FactProvenance(drawer, "heuristic", NOW) if drawer else None
    return replace(Fact(id, "alice", predicate, object, 0.6, "2026-01", provenance=provenance), **changes)


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (decided(LOW, HIGH, LinkKind.SUPERSEDES), f"fact-link:supersedes:explicit:legacy:{HIGH}"),
        (decided(LOW, HIGH, LinkKind.REFINES, "d1"), f"fact-link:refines:explicit:d1:{HIGH}"),
        (decided(LOW, LOW, LinkKind.INVALIDATES, "d1"), f"fact-link:invalidates:explicit:d1:{LOW}"),
        (decided(HIGH, LOW, LinkKind.CONFIRMS, "d1"), f"fact-link:confirms:explicit:d1:{HIGH}"),
        (
            link(HIGH, LOW, LinkKind.CONTRADICTS, LinkOrigin.INFERRED, "because", NOW, "d1"),
            f"fact-link:contradicts:inferred:{HIGH}",
        ),
    ],
)
def test_the_id_is_derived_from_ends_kind_origin_and_evidence(found: FactLink, name: str) -> None:
    digest = bytearray(hashlib.sha256(uuid.UUID(LOW).bytes + name.encode()).digest()[:16])
    digest[6], digest[8] = digest[6] & 0x0F | 0x50, digest[8] & 0x3F | 0x80
    assert found.id == str(uuid.UUID(bytes=bytes(digest)))


@pytest.mark.parametrize("kind", SYMMETRIC)
def test_both_directions_of_a_symmetric_link_are_one(kind: LinkKind) -> None:
    assert decided(LOW, HIGH, kind) == decided(HIGH, LOW, kind)
    assert (
        FactLink(HIGH, LOW, kind, LinkOrigin.INFERRED, "", NOW).id == FactLink(LOW, HIGH, kind, LinkOrigin.INFERRED, "", NOW).id
    )


@pytest.mark.parametrize("kind", DIRECTED)
def test_both_directions_of_another_link_are_two(kind: LinkKind) -> None:
    one, other = decided(LOW, HIGH, kind), decided(HIGH, LOW, kind)
    assert (one.from_id, other.from_id) == (LOW, HIGH)
    assert one.id != other.id


def test_another_instant_or_reason_is_the_same_link() -> None:
    found = decided(LOW, HIGH, LinkKind.REFINES, "d1")
    assert replace(found, at="2027", reason="another").id == found.id
    assert replace(found, evidence="d2").id != found.id
    assert replace(found, origin=LinkOrigin.INFERRED).id != found.id


def test_a_link_shows_its_evidence_only_when_there_is_some() -> None:
    shape = {"from": LOW, "to": HIGH, "kind": "refines", "origin": "explicit", "reason": "because", "at": NOW}
    assert decided(LOW, HIGH, LinkKind.REFINES).as_json() == shape
    assert decided(LOW, HIGH, LinkKind.REFINES, "d1").as_json() == shape | {"evidence": "d1"}


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        pytest.param(fact(LOW), LinkKind.CONFIRMS, id="same object"),
        pytest.param(fact(LOW, "paris"), LinkKind.CONTRADICTS, id="another place"),
        pytest.param(fact(LOW, subject="bob"), None, id="another subject"),
        pytest.param(fact(LOW, predicate="uses"), None, id="another predicate"),
        pytest.param(fact(LOW, "paris", valid_to="2026-01"), None, id="ended when the new one began"),
        pytest.param(fact(LOW, "paris", valid_from="2025", valid_to="2026-02"), LinkKind.CONTRADICTS, id="ended later"),
        pytest.param(fact(LOW, drawer=f"drawer of {HIGH}"), None, id="same drawer"),
        pytest.param(fact(LOW, drawer=None, assertion=f"drawer of {HIGH}"), None, id="asserted by the same drawer"),
        pytest.param(fact(LOW, drawer=None, assertion="d9"), LinkKind.CONFIRMS, id="asserted by another drawer"),
        pytest.param(fact(LOW, drawer=None), LinkKind.CONFIRMS, id="no drawer known"),
    ],
)
def test_what_the_policy_infers(other: Fact, kind: LinkKind | None) -> None:
    found = inferred_link(fact(HIGH), other, NOW)
    assert (found and found.kind) is kind
    if found is not None:
        assert found.reason.startswith("policy v1")
        assert (found.from_id, found.to_id) == (LOW, HIGH)
        assert (found.origin, found.at, found.evidence) == (LinkOrigin.INFERRED, NOW, f"drawer of {HIGH}")


@pytest.mark.parametrize(
    "predicate", ["works_on", "member_of", "depends_on", "uses", "owns", "part_of", "related_to", "lives at"]
)
def test_predicates_that_hold_of_several_objects_never_contradict(predicate: str) -> None:
    assert inferred_link(fact(HIGH, predicate=predicate), fact(LOW, "paris", predicate), NOW) is None
    confirmed = inferred_link(fact(HIGH, predicate=predicate), fact(LOW, predicate=predicate), NOW)
    assert confirmed is not None
    assert confirmed.kind is LinkKind.CONFIRMS


def test_a_fact_that_has_ended_infers_nothing() -> None:
    assert inferred_link(fact(HIGH, valid_to="2026-03"), fact(LOW), NOW) is None


def test_a_fact_is_not_compared_with_itself() -> None:
    assert inferred_link(fact(HIGH), fact(HIGH, "paris", drawer="d9"), NOW) is None


@given(st.permutations([fact(LOW), fact(OTHERS[0], "paris"), fact(OTHERS[1], "rome"), fact(LOW)]))
def test_the_order_of_facts_does_not_matter(others: list[Fact]) -> None:
    found = inferred_links(fact(HIGH), others, NOW)
    assert found == inferred_links(fact(HIGH), reversed(others), NOW)
    assert [link.id for link in found] == sorted({link.id for link in found})
    assert sorted(link.kind for link in found) == [LinkKind.CONFIRMS, LinkKind.CONTRADICTS, LinkKind.CONTRADICTS]


def test_a_fact_of_a_corrected_drawer_is_replaced_where_the_correction_restates_it() -> None:
    new = fact(HIGH, "paris")
    old = [fact(LOW), fact(OTHERS[0], predicate="uses"), fact(OTHERS[1], subject="bob"), new]
    [found] = inferred_successions(new, old, NOW)
    assert (found.from_id, found.to_id, found.kind, found.origin) == (HIGH, LOW, LinkKind.SUPERSEDES, LinkOrigin.INFERRED)
    assert found.reason.startswith("policy v1")
