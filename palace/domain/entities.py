"""Entities and the rules by which a name that was read somewhere becomes one of them.

Nothing here merges or renames what exists: a name either converges on a known entity, which then knows it as an alias,
or becomes a new entity, with links to those it might be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import regex

from palace.domain.clock import Timestamp
from palace.domain.similarity import edits, lowered, similarity

LENGTH_REACH = 2
"""By how many characters a key may differ in length from the one looked for and still be a candidate."""

SHORTEST_TYPO = 6
"""Characters that both keys need before one edit between them is a typing error."""

FARTHEST_REVIEW = 2
SHORTEST_REVIEW = 4
LEAST_REVIEW_SIMILARITY = 0.75
MOST_REVIEWED = 5
"""Which entities a new one might be: at most two edits away, keys of 4 characters or more, similarity 0.75; the best 5."""

_DROPPED = re.compile(r"[.'\u2019]")
_ASCII_REST = re.compile(r"[^a-z0-9+#]+")
_REST = regex.compile(r"[^\p{Alphabetic}\p{N}+#]+")


class EntityKind(StrEnum):
    """The kinds that extraction gives. People and agents may name any other."""

    PERSON = "person"
    ORGANIZATION = "organization"
    PROJECT = "project"
    TOOL = "tool"
    PLACE = "place"
    CONCEPT = "concept"
    OTHER = "other"


class Rule(StrEnum):
    """By which rule a name was taken for an entity."""

    EXACT = "exact"
    NORMALIZED = "normalized"
    ALIAS = "alias"
    TYPO = "typo"


CONFIDENCE: Mapping[Rule, float] = {Rule.EXACT: 1.0, Rule.NORMALIZED: 0.98, Rule.ALIAS: 0.95}
"""How sure each rule is; that of `typo` is the similarity of the keys."""


def label(text: str) -> str:
    """A kind or predicate as it is stored: trimmed, in lower case. Raises ValueError when nothing is left."""
    stored = text.strip().lower()
    if not stored:
        raise ValueError("it is blank; a label holds text")
    return stored


def entity_key(name: str) -> str:
    """The form in which spellings of one name meet: `Node.js` and `NodeJS` are `nodejs`.

    Lower case; letters, digits, `+` and `#` are kept, dots and apostrophes are dropped, any other run is one space.
    A name that holds none of what is kept is its own key, trimmed and in lower case. Stored state: a changed rule would
    part every spelling from its entity.
    """
    lower = lowered(name)
    joined = _DROPPED.sub("", lower)
    pattern = _ASCII_REST if joined.isascii() else _REST
    key: str = pattern.sub(" ", joined)
    return key.strip(" ") or lower.strip()


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, thing or idea that drawers mention. The name is the first spelling that was met and is never rewritten.

    `key` and `alias_keys` are the keys of the name and of the aliases; `Entity.named` makes them.
    """

    id: str
    name: str
    kind: str
    key: str
    aliases: tuple[str, ...] = ()
    alias_keys: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def named(cls, id: str, name: str, kind: str, aliases: Iterable[str] = ()) -> Entity:
        entity = cls(id, name, kind, entity_key(name))
        for alias in aliases:
            entity = with_alias(entity, alias)
        return entity

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of every spelling that is known."""
        return (self.key, *self.alias_keys)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "properties": dict(self.properties),
            "aliases": list(self.aliases),
        }


def with_alias(entity: Entity, spelling: str) -> Entity:
    """The entity with one more alias, trimmed; the same when that is its name or an alias already.

    Raises ValueError for a blank spelling.
    """
    alias = spelling.strip()
    if not alias:
        raise ValueError("it is blank; an alias is another spelling of a name")
    if alias == entity.name or alias in entity.aliases:
        return entity
    keys = dict.fromkeys((*entity.alias_keys, entity_key(alias)))
    return replace(entity, aliases=(*entity.aliases, alias), alias_keys=tuple(keys))


@dataclass(frozen=True, slots=True)
class Observation:
    """The name as a drawer spells it, and why it was taken for the entity; stored with the mention."""

    name: str
    rule: Rule
    confidence: float

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "rule": self.rule.value, "confidence": self.confidence}


@dataclass(frozen=True, slots=True)
class Possible:
    """An existing entity that a new one might be, for a person to judge."""

    entity: Entity
    similarity: float


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name is: the known `entity`, or None for a new one, which `possible` entities might be the same as."""

    entity: Entity | None
    observation: Observation
    possible: tuple[Possible, ...] = ()


@dataclass(frozen=True, slots=True)
class PossiblySameAs:
    """The link of a new entity to an older one that it might be."""

    newer: str
    older: str
    similarity: float
    created_at: Timestamp

    def as_json(self, other: Entity) -> dict[str, Any]:
        """The link as one of its ends shows it, given the entity at the other end."""
        return {
            "entity": other.as_json(),
            "side": "older" if other.id == self.older else "newer",
            "similarity": self.similarity,
            "created_at": self.created_at,
        }


def resolve(name: str, kind: str, candidates: Iterable[Entity], *, fuzzy: bool = True) -> Resolution:
    """What `name`, observed as a `kind`, is among the candidates, whatever their order.

    Candidates are all entities of that kind (of every kind when it is `other`) with an equal key, with the key among
    their aliases', with a key whose length is within 2 characters, or with any alias; more do no harm. The first rule
    that fits wins: same name, same key, key of an alias, and, when `fuzzy`, one typing error away from exactly one
    entity. A tie goes to an entity that says more than `other`, then to the lowest id.
    """
    key = entity_key(name)
    same_kind = {entity.id: entity for entity in candidates if kind in (entity.kind, EntityKind.OTHER)}
    known = sorted(same_kind.values(), key=lambda entity: (entity.kind == EntityKind.OTHER, entity.id))
    certain: tuple[tuple[Rule, Callable[[Entity], bool]], ...] = (
        (Rule.EXACT, lambda entity: entity.name == name),
        (Rule.NORMALIZED, lambda entity: entity.key == key),
        (Rule.ALIAS, lambda entity: key in entity.alias_keys),
    )
    for rule, fits in certain:
        if (entity := next(filter(fits, known), None)) is not None:
            return Resolution(entity, Observation(name, rule, CONFIDENCE[rule]))
    near = _near(key, known) if fuzzy else []
    typos = [found for found in near if found.typo is not None]
    if len(typos) == 1 and (confidence := typos[0].typo) is not None:
        return Resolution(typos[0].entity, Observation(name, Rule.TYPO, confidence))
    possible = sorted((found.possible for found in near), key=lambda found: (-found.similarity, found.entity.id))
    return Resolution(None, Observation(name, Rule.EXACT, CONFIDENCE[Rule.EXACT]), tuple(possible[:MOST_REVIEWED]))


@dataclass(frozen=True, slots=True)
class _Near:
    """An entity within reach of a key: its best similarity, and that of its spellings which one typing error explains."""

    entity: Entity
    similarity: float
    typo: float | None

    @property
    def possible(self) -> Possible:
        return Possible(self.entity, self.similarity)


def _near(key: str, known: Sequence[Entity]) -> list[_Near]:
    found = []
    for entity in known:
        alike = [
            (similar, distance == 1 and shortest >= SHORTEST_TYPO)
            for spelling in entity.keys
            if (distance := _distance(key, spelling)) <= FARTHEST_REVIEW
            and (shortest := min(len(key), len(spelling))) >= SHORTEST_REVIEW
            and (similar := similarity(key, spelling)) >= LEAST_REVIEW_SIMILARITY
        ]
        if alike:
            typos = [similar for similar, typo in alike if typo]
            found.append(_Near(entity, max(similar for similar, _ in alike), max(typos, default=None)))
    return found


def _distance(key: str, spelling: str) -> int:
    if abs(len(key) - len(spelling)) > FARTHEST_REVIEW:
        return FARTHEST_REVIEW + 1
    return edits(key, spelling, FARTHEST_REVIEW)
