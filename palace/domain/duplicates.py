"""What a new text resembles among the texts of its room.

A verdict never stops a write by itself and nothing is merged: it becomes a link from the newer drawer to the older one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from palace.domain.clock import Timestamp
from palace.domain.similarity import fingerprint, normal_form, similarities
from palace.domain.texts import content_hash

NEAR_THRESHOLD = 0.9
SHORTEST_NEAR = 12
"""Characters that the normal form of a new text needs before it can be near another."""

LEXICAL_CANDIDATES = 10
"""How many drawers found by their words are compared."""

MOST_LINKS = 5
"""Links recorded for one drawer."""


class Verdict(StrEnum):
    """How a text resembles another, the closest first. A text that does not is distinct, and nothing is said of it."""

    EXACT = "exact"
    NORMALIZED = "normalized"
    NEAR = "near"


_RANK = {verdict: rank for rank, verdict in enumerate(Verdict)}


@dataclass(frozen=True)
class Likeness:
    """What of a text is compared: the hash of its content and its normal form."""

    content_hash: str
    form: str

    @classmethod
    def of(cls, content: str) -> Likeness:
        return cls(content_hash(content), normal_form(content))

    @cached_property
    def fingerprint(self) -> str | None:
        """The fingerprint of the normal form; None when the text has neither letter nor digit."""
        return fingerprint(self.form)

    @property
    def can_be_near(self) -> bool:
        """Whether the text is long enough to be near another: shorter ones differ by a letter that matters."""
        return len(self.form) >= SHORTEST_NEAR


@dataclass(frozen=True, slots=True)
class Match:
    """A drawer that a new text resembles."""

    drawer: str
    verdict: Verdict
    similarity: float
    same_hash: bool
    same_fingerprint: bool


@dataclass(frozen=True, slots=True)
class SimilarTo:
    """The link of a drawer to an older one that it resembles, with what spoke for it."""

    newer: str
    older: str
    verdict: Verdict
    similarity: float
    same_hash: bool
    same_fingerprint: bool
    threshold: float
    created_at: Timestamp

    @property
    def signals(self) -> dict[str, Any]:
        """What the verdict rests on, as it is stored and shown."""
        return {
            "same_hash": self.same_hash,
            "same_fingerprint": self.same_fingerprint,
            "similarity": self.similarity,
            "threshold": self.threshold,
        }

    def as_json(self, drawer: str) -> dict[str, Any]:
        """The link as the drawer at one of its ends shows it: the other drawer, and which side of this one it is on."""
        other, side = (self.older, "older") if drawer == self.newer else (self.newer, "newer")
        return {
            "drawer": other,
            "side": side,
            "kind": self.verdict.value,
            "similarity": self.similarity,
            "signals": self.signals,
            "created_at": self.created_at,
        }


def matches(drawer: str, new: Likeness, candidates: Mapping[str, Likeness], threshold: float = NEAR_THRESHOLD) -> list[Match]:
    """The candidates (by drawer id) that the new text of `drawer` resembles, the closest first.

    Exact before normalized before near, then the more similar, then the lower id. A drawer never matches itself.
    """
    others = {id: other for id, other in candidates.items() if id != drawer}
    alike = similarities(new.form, (other.form for other in others.values()), threshold)
    found = (_judged(id, new, other, similar, threshold) for (id, other), similar in zip(others.items(), alike, strict=True))
    return sorted(filter(None, found), key=lambda match: (_RANK[match.verdict], -match.similarity, match.drawer))


def _judged(id: str, new: Likeness, other: Likeness, similar: float, threshold: float) -> Match | None:
    same_hash = new.content_hash == other.content_hash
    same_form = bool(new.form) and new.form == other.form
    if same_hash:
        # Two texts without a letter have no similarity, but a copy is a copy.
        return Match(id, Verdict.EXACT, 1.0, same_hash, same_form)
    if same_form:
        return Match(id, Verdict.NORMALIZED, similar, same_hash, same_form)
    if similar >= threshold and new.can_be_near:
        return Match(id, Verdict.NEAR, similar, same_hash, same_form)
    return None


def links(drawer: str, found: Sequence[Match], threshold: float, at: Timestamp) -> list[SimilarTo]:
    """The links of a new drawer to the closest of its matches, at most 5 of them."""
    return [
        SimilarTo(
            newer=drawer,
            older=match.drawer,
            verdict=match.verdict,
            similarity=match.similarity,
            same_hash=match.same_hash,
            same_fingerprint=match.same_fingerprint,
            threshold=threshold,
            created_at=at,
        )
        for match in found[:MOST_LINKS]
    ]


def shown(drawer: str, recorded: Iterable[SimilarTo]) -> list[dict[str, Any]]:
    """The links of a drawer, to either side, as a listing shows them: the most similar first, then by drawer id."""
    entries = [link.as_json(drawer) for link in recorded]
    return sorted(entries, key=lambda entry: (-entry["similarity"], entry["drawer"]))
