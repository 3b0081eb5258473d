"""What a name is among known entities: rules in their order, ties, typing errors, possible matches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.entities import Entity, Observation, PossiblySameAs, Rule, resolve
from palace.domain.similarity import similarity

TOOL = "tool"


def tool(id: str, name: str, *aliases: str, kind: str = TOOL) -> Entity:
    return Entity.named(id, name, kind, aliases)


def resolved(name: str, *candidates: Entity, kind: str = TOOL) -> tuple[str | None, Rule, float]:
    found = resolve(name, kind, candidates)
    assert found.observation.name == name
    return found.entity and found.entity.id, found.observation.rule, found.observation.confidence


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        pytest.param("SurrealDB", tool("1", "SurrealDB"), ("1", Rule.EXACT, 1.0), id="same name"),
        pytest.param("NodeJS", tool("1", "Node.js"), ("1", Rule.NORMALIZED, 0.98), id="same key"),
        pytest.param("surreal", tool("1", "SurrealDB", "Surreal"), ("1", Rule.ALIAS, 0.95), id="key of an alias"),
        pytest.param("SurealDB", tool("1", "SurrealDB"), ("1", Rule.TYPO, 8 / 9), id="letter left out"),
        pytest.param("SurraelDB", tool("1", "SurrealDB"), ("1", Rule.TYPO, 8 / 9), id="neighbours swapped"),
        pytest.param("Postgrees", tool("1", "PG", "Postgres"), ("1", Rule.TYPO, 8 / 9), id="typing error of an alias"),
        pytest.param("djangi", tool("1", "Django"), ("1", Rule.TYPO, 5 / 6), id="six characters are enough"),
        pytest.param("Maria", tool("1", "Mario"), (None, Rule.EXACT, 1.0), id="five characters are not"),
        pytest.param("Django", tool("1", "Djang"), (None, Rule.EXACT, 1.0), id="nor are they in the known name"),
        pytest.param("SuraelDB", tool("1", "SurrealDB"), (None, Rule.EXACT, 1.0), id="two edits"),
        pytest.param("café", tool("1", "cafe"), (None, Rule.EXACT, 1.0), id="accent"),
        pytest.param("Rust", tool("1", "SurrealDB"), (None, Rule.EXACT, 1.0), id="nothing alike"),
    ],
)
def test_rules(name: str, known: Entity, expected: tuple[str | None, Rule, float]) -> None:
    assert resolved(name, known) == expected


def test_the_first_rule_that_fits_wins() -> None:
    exact, normalized = tool("4", "Node.JS"), tool("3", "nodejs")
    alias, typo = tool("2", "Node", "node.js"), tool("1", "nodejss")
    assert resolved("Node.JS", typo, alias, normalized, exact) == ("4", Rule.EXACT, 1.0)
    assert resolved("Node.JS", typo, alias, normalized) == ("3", Rule.NORMALIZED, 0.98)
    assert resolved("Node.JS", typo, alias) == ("2", Rule.ALIAS, 0.95)
    assert resolved("Node.JS", typo) == ("1", Rule.TYPO, 6 / 7)
    assert resolved("Node.JS") == (None, Rule.EXACT, 1.0)


def test_an_entity_of_another_kind_is_not_meant() -> None:
    assert resolved("Mercury", tool("1", "Mercury", kind="place")) == (None, Rule.EXACT, 1.0)
    assert resolved("Mercury", tool("1", "Mercury", kind="other")) == (None, Rule.EXACT, 1.0)


def test_an_observation_of_no_kind_may_mean_an_entity_of_any() -> None:
    assert resolved("Mercury", tool("1", "Mercury", kind="place"), kind="other") == ("1", Rule.EXACT, 1.0)


def test_a_tie_goes_to_an_entity_that_says_more_than_other_then_to_the_lowest_id() -> None:
    other, place, person = (tool(id, "Mercury", kind=kind) for id, kind in [("1", "other"), ("2", "place"), ("3", "person")])
    assert resolved("Mercury", other, person, place, kind="other") == ("2", Rule.EXACT, 1.0)
    assert resolved("mercury", other, person, kind="other") == ("3", Rule.NORMALIZED, 0.98)
    assert resolved("mercury", tool("9", "Mercury"), tool("8", "MERCURY")) == ("8", Rule.NORMALIZED, 0.98)


def test_two_entities_one_typing_error_away_are_left_to_a_person() -> None:
    one, other = tool("1", "MemCastles"), tool("2", "MemCastlez")
    found = resolve("MemCastle", TOOL, [other, one])
    assert found.entity is None
    assert [(match.entity.id, match.similarity) for match in found.possible] == [("1", 0.9), ("2", 0.9)]


def test_an_entity_with_two_spellings_one_typing_error_away_is_one() -> None:
    assert resolved("MemCastle", tool("1", "MemCastles", "MemCastlez")) == ("1", Rule.TYPO, 0.9)


@pytest.mark.parametrize(
    ("name", "known", "possible"),
    [
        ("Maria", "Mario", [0.8]),
        ("SuraelDB", "SurrealDB", [7 / 9]),
        ("abcd", "abce", [0.75]),
        ("abc", "abd", []),
        ("abcde", "abc", []),
        ("abcdef", "abxyef", []),
        ("abcdefgh", "abcxyfgh", [0.75]),
        ("abcdefghijkl", "abcxyzghijkl", []),
    ],
)
def test_possible_matches(name: str, known: str, possible: list[float]) -> None:
    found = resolve(name, TOOL, [tool("1", known)])
    assert found.entity is None
    assert [match.similarity for match in found.possible] == possible


def test_at_most_five_possible_matches_the_most_similar_first_then_by_id() -> None:
    names = ["abcdefxy", "abcdexgh", "abcdxfgh", "abcxefgh", "abxdefgh", "axcdefgh", "xbcdefgh"]
    found = resolve("abcdefgh", TOOL, [tool(str(9 - at), name) for at, name in enumerate(names)])
    assert [(match.entity.id, match.similarity) for match in found.possible] == [(id, 0.875) for id in "34567"]


def test_without_fuzziness_neither_typing_errors_nor_possible_matches() -> None:
    found = resolve("SurealDB", TOOL, [tool("1", "SurrealDB")], fuzzy=False)
    assert (found.entity, found.possible) == (None, ())
    assert resolve("NodeJS", TOOL, [tool("1", "Node.js")], fuzzy=False).entity is not None


CANDIDATES = st.lists(
    st.builds(
        tool,
        st.sampled_from("0123456789"),
        st.sampled_from(["Django", "django", "Djang.o", "Djangos", "Djangoz", "Djanxo", "Flask", "Dja ngo"]),
        st.sampled_from(["Django", "DJ", "jango", "Flask"]),
        kind=st.sampled_from(["tool", "other", "project"]),
    ),
    max_size=6,
    unique_by=lambda entity: entity.id,
)


@given(st.sampled_from(["Django", "Djago", "Djangoo", "Flusk"]), st.sampled_from(["tool", "other"]), CANDIDATES, st.randoms())
def test_the_order_of_candidates_does_not_matter(name: str, kind: str, candidates: list[Entity], random: object) -> None:
    shuffled = [*candidates, *candidates]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert resolve(name, kind, shuffled) == resolve(name, kind, candidates)


@given(st.sampled_from(["Django", "Djago", "Djangoo", "Flusk"]), st.sampled_from(["tool", "other"]), CANDIDATES)
def test_what_it_gives_keeps_the_rules(name: str, kind: str, candidates: list[Entity]) -> None:
    found = resolve(name, kind, candidates)
    meant = [match.entity for match in found.possible] + ([found.entity] if found.entity else [])
    assert all(entity.kind == kind or kind == "other" for entity in meant)
    assert not (found.entity and found.possible), "possible matches are of a new entity only"
    assert all(match.similarity == max(similarity(name.lower(), key) for key in match.entity.keys) for match in found.possible)


def test_shapes() -> None:
    assert Observation("SurealDB", Rule.TYPO, 8 / 9).as_json() == {"name": "SurealDB", "rule": "typo", "confidence": 8 / 9}
    mario, maria = tool("1", "Mario", kind="person"), tool("2", "Maria", kind="person")
    link = PossiblySameAs(newer="2", older="1", similarity=0.8, created_at="2026-12-01T00:00:00.000000000Z")
    shown = link.as_json(mario)
    assert shown == {"entity": mario.as_json(), "side": "older", "similarity": 0.8, "created_at": link.created_at}
    assert link.as_json(maria)["side"] == "newer"
