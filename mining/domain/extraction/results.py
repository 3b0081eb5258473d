"""What a provider read out of a text, and the one form into which every provider's answer is brought."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, replace

from mining.domain.extraction.vocabulary import Predicate
from palace.domain.entities import EntityKind

READ_CHARACTERS = 8_000
"""Characters of a text, from its beginning, that are given to a provider."""

LONGEST_NAME = 120
"""Characters of an entity's name; a longer one is no name and is dropped."""

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """A name that occurs in a text, with its kind."""

    name: str
    kind: EntityKind = EntityKind.OTHER


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """A relation that a text states between two of its entities, both by name; `confidence` is from 0 to 1."""

    subject: str
    predicate: Predicate
    object: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read out of one text."""

    entities: tuple[ExtractedEntity, ...] = ()
    relations: tuple[ExtractedRelation, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of an extraction is kept, as `[extraction]` sets it."""

    max_entities: int = 32
    max_relations: int = 64
    min_confidence: float = 0.3


def normalized(extraction: Extraction, bounds: Bounds) -> Extraction:
    """The extraction with clean, distinct names and with relations between kept entities only. Again, it changes nothing.

    Names in which only ASCII case differs are one, spelt as it was first; its first kind wins. Of equal relations the
    most confident is kept. Relations come by confidence, subject, predicate, object.
    """
    kept: dict[str, ExtractedEntity] = {}
    for entity in extraction.entities:
        if len(kept) == bounds.max_entities:
            break
        name = _name(entity.name)
        if name is not None:
            kept.setdefault(_folded(name), replace(entity, name=name))
    relations = _relations(extraction.relations, {folded: entity.name for folded, entity in kept.items()}, bounds)
    return Extraction(tuple(kept.values()), relations)


def _relations(given: Iterable[ExtractedRelation], spelling: dict[str, str], bounds: Bounds) -> tuple[ExtractedRelation, ...]:
    best: dict[tuple[str, Predicate, str], float] = {}
    for relation in given:
        subject, object = (spelling.get(_folded(_name(end) or "")) for end in (relation.subject, relation.object))
        if subject is None or object is None or subject == object or not math.isfinite(relation.confidence):
            continue
        confidence = min(max(relation.confidence, 0.0), 1.0)
        if confidence >= bounds.min_confidence:
            key = (subject, relation.predicate, object)
            best[key] = max(confidence, best.get(key, 0.0))
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))[: bounds.max_relations]
    return tuple(ExtractedRelation(*key, confidence) for key, confidence in ordered)


def _name(text: str) -> str | None:
    """The name with single spaces; None when it is empty, too long or cannot be written as text."""
    name = " ".join(text.split())
    return name if 0 < len(name) <= LONGEST_NAME and not _UNWRITABLE.search(name) else None


def _folded(name: str) -> str:
    return name.translate(_ASCII_LOWER)
