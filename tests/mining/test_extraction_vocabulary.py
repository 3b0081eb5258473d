"""How the labels of a provider are read."""

from __future__ import annotations

import pytest

from mining.domain.extraction.vocabulary import Predicate, read_kind, read_predicate
from palace.domain.entities import EntityKind


def test_the_vocabulary_is_closed() -> None:
    assert list(EntityKind) == ["person", "organization", "project", "tool", "place", "concept", "other"]
    assert list(Predicate) == [
        "works_on", "member_of", "depends_on", "uses", "owns", "part_of", "located_in", "related_to",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "kind"),
    [("person", "person"), (" Organization\n", "organization"), ("TOOL", "tool"), ("company", "other"), ("", "other")],
)
def test_kinds(label: str, kind: str) -> None:
    assert read_kind(label) == kind


@pytest.mark.parametrize(
    ("label", "predicate"),
    [
        ("works_on", "works_on"),
        (" Works on ", "works_on"),
        ("MEMBER-OF", "member_of"),
        ("located_In", "located_in"),
        ("worksOn", "related_to"),
        ("works  on", "related_to"),
        ("likes", "related_to"),
        ("", "related_to"),
    ],
)
def test_predicates(label: str, predicate: str) -> None:
    assert read_predicate(label) == predicate
