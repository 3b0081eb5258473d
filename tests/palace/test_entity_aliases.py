"""Other spellings of an entity."""

from __future__ import annotations

import pytest

from palace.domain.entities import Entity, with_alias


def test_an_alias_is_trimmed_and_kept_with_its_key() -> None:
    entity = with_alias(Entity.named("1", "SurrealDB", "tool"), "  Surreal.DB 2 ")
    assert (entity.aliases, entity.alias_keys) == (("Surreal.DB 2",), ("surrealdb 2",))
    assert (entity.name, entity.key) == ("SurrealDB", "surrealdb"), "the name is never rewritten"


@pytest.mark.parametrize("known", ["Node.js", " Node.js ", "NodeJS", "node js"])
def test_the_name_and_a_known_alias_change_nothing(known: str) -> None:
    entity = Entity.named("1", "Node.js", "tool", ["NodeJS", "node js"])
    assert with_alias(entity, known) is entity


def test_spellings_with_one_key_share_it() -> None:
    entity = Entity.named("1", "Node", "tool", ["Node.js", "NodeJS"])
    assert (entity.aliases, entity.alias_keys) == (("Node.js", "NodeJS"), ("nodejs",))


@pytest.mark.parametrize("blank", ["", " \t"])
def test_a_blank_alias_is_refused(blank: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        with_alias(Entity.named("1", "Node.js", "tool"), blank)


def test_the_shape_shows_aliases_and_no_keys() -> None:
    entity = Entity.named("1", "Node.js", "tool", ["NodeJS"])
    assert entity.as_json() == {"id": "1", "name": "Node.js", "kind": "tool", "properties": {}, "aliases": ["NodeJS"]}
