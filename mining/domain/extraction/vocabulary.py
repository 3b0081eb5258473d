"""The kinds and predicates of extracted data. What people and agents assert themselves may use any other label."""

from __future__ import annotations

import re
from enum import StrEnum

from palace.domain.entities import EntityKind

_GAP = re.compile(r"[\s-]")


class Predicate(StrEnum):
    """How two extracted entities are related."""

    WORKS_ON = "works_on"
    MEMBER_OF = "member_of"
    DEPENDS_ON = "depends_on"
    USES = "uses"
    OWNS = "owns"
    PART_OF = "part_of"
    LOCATED_IN = "located_in"
    RELATED_TO = "related_to"


def read_kind(label: str) -> EntityKind:
    """The kind that a provider's label means; an unknown one is `other`."""
    written = label.strip().lower()
    return EntityKind(written) if written in tuple(EntityKind) else EntityKind.OTHER


def read_predicate(label: str) -> Predicate:
    """The predicate that a provider's label means, `Works on` and `works-on` too; an unknown one is `related_to`."""
    written = _GAP.sub("_", label.strip().lower())
    return Predicate(written) if written in tuple(Predicate) else Predicate.RELATED_TO
