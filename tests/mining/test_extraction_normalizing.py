"""The one form into which every provider's answer is brought."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mining.domain.extraction.results import Bounds, ExtractedEntity, ExtractedRelation, Extraction, normalized
from mining.domain.extraction.vocabulary import Predicate
from palace.domain.entities import EntityKind

BOUNDS = Bounds()
USES, OWNS = Predicate.USES, Predicate.OWNS


def entities(*names: str, bounds: Bounds = BOUNDS) -> list[str]:
    return [entity.name for entity in normalized(Extraction(tuple(map(ExtractedEntity, names))), bounds).entities]


def relations(*given: ExtractedRelation, bounds: Bounds = BOUNDS) -> list[ExtractedRelation]:
    known = tuple(map(ExtractedEntity, ["Alice", "Bob", "Cargo"]))
    return list(normalized(Extraction(known, given), bounds).relations)


def relation(subject: str, object: str, confidence: float = 0.6, predicate: Predicate = USES) -> ExtractedRelation:
    return ExtractedRelation(subject, predicate, object, confidence)


def test_white_space_of_names_is_collapsed() -> None:
    assert entities("  Ada\n Lovelace\t") == ["Ada Lovelace"]


def test_names_that_are_empty_too_long_or_no_text_are_dropped() -> None:
    assert entities("", " \n", "x" * 121, "x" * 120, "a\0b", "a\ud800") == ["x" * 120]


def test_names_that_differ_in_ascii_case_are_one_spelt_as_it_was_first() -> None:
    assert entities("SurrealDB", "surrealdb", "SURREALDB", "École", "école") == ["SurrealDB", "École", "école"]


def test_the_first_kind_wins() -> None:
    given = (ExtractedEntity("Ada", EntityKind.PERSON), ExtractedEntity("ada", EntityKind.TOOL))
    assert normalized(Extraction(given), Bounds()).entities == (ExtractedEntity("Ada", EntityKind.PERSON),)


def test_only_the_first_entities_are_kept_and_dropped_names_do_not_count() -> None:
    assert entities("", "a", "b", "A", "c", "d", bounds=Bounds(max_entities=3)) == ["a", "b", "c"]


def test_the_ends_of_relations_are_kept_entities_spelt_as_kept() -> None:
    assert relations(relation(" ALICE ", "bob"), relation("Alice", "Zoe"), relation("", "Bob")) == [relation("Alice", "Bob")]


def test_a_relation_to_an_entity_that_was_cut_is_dropped() -> None:
    assert relations(relation("Alice", "Cargo"), bounds=Bounds(max_entities=2)) == []


def test_a_relation_of_an_entity_to_itself_is_dropped() -> None:
    assert relations(relation("Alice", "alice")) == []


@pytest.mark.parametrize(
    ("given", "kept"),
    [(0.3, 0.3), (0.29, None), (1.5, 1.0), (-1.0, None), (math.nan, None), (math.inf, None), (-math.inf, None)],
)
def test_confidence_is_finite_clamped_and_not_too_low(given: float, kept: float | None) -> None:
    assert [found.confidence for found in relations(relation("Alice", "Bob", given))] == ([] if kept is None else [kept])


def test_a_clamped_confidence_may_be_the_lowest_that_is_kept() -> None:
    assert [found.confidence for found in relations(relation("Alice", "Bob", -1.0), bounds=Bounds(min_confidence=0))] == [0.0]


def test_of_equal_relations_the_most_confident_is_kept() -> None:
    given = [
        relation("Alice", "Bob", 0.5),
        relation("alice", "BOB", 0.9),
        relation("Alice", "Bob", 0.7),
        relation("Bob", "Alice"),
    ]
    assert relations(*given) == [relation("Alice", "Bob", 0.9), relation("Bob", "Alice")]


def test_relations_come_by_confidence_subject_predicate_object_and_are_cut_then() -> None:
    ordered = [
        relation("Cargo", "Bob", 0.9),
        relation("Alice", "Cargo", 0.6, OWNS),
        relation("Alice", "Bob"),
        relation("Alice", "Cargo"),
        relation("Bob", "Alice", 0.6, OWNS),
    ]
    assert relations(*reversed(ordered)) == ordered
    assert relations(*reversed(ordered), bounds=Bounds(max_relations=2)) == ordered[:2]


NAMES = st.sampled_from(["Ada", "ada", " Ada  L", "Ada L", "Bob", "", "x" * 121, "École"]) | st.text(max_size=4)
EXTRACTIONS = st.builds(
    Extraction,
    st.lists(st.builds(ExtractedEntity, NAMES, st.sampled_from(EntityKind)), max_size=8).map(tuple),
    st.lists(st.builds(ExtractedRelation, NAMES, st.sampled_from(Predicate), NAMES, st.floats()), max_size=8).map(tuple),
)
ANY_BOUNDS = st.builds(Bounds, st.integers(1, 4), st.integers(1, 4), st.floats(0, 1))


@given(EXTRACTIONS, ANY_BOUNDS)
def test_it_changes_nothing_when_applied_again(extraction: Extraction, bounds: Bounds) -> None:
    once = normalized(extraction, bounds)
    assert normalized(once, bounds) == once


@given(EXTRACTIONS, ANY_BOUNDS, st.randoms())
def test_the_order_of_relations_does_not_matter(extraction: Extraction, bounds: Bounds, random: object) -> None:
    shuffled = list(extraction.relations)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert normalized(Extraction(extraction.entities, tuple(shuffled)), bounds) == normalized(extraction, bounds)
