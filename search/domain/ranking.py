"""Which ranking answers a query, and how its hits are ordered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from search.domain.query import Ranking, SearchQuery
from search.errors import SemanticUnavailable


@dataclass(frozen=True, slots=True)
class Ranked:
    """A drawer as an engine ranked it. Scores compare only within one answer; `signals` say what made them."""

    drawer_id: str
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)


def ordered(hits: Iterable[Ranked]) -> list[Ranked]:
    """Best first; equal scores by drawer id, so that the same search always answers the same."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.drawer_id))


def chosen_ranking(query: SearchQuery, vector_available: bool) -> Ranking:
    """The ranking that runs: lexical, semantic or hybrid, never auto.

    Raises SemanticUnavailable when semantic or hybrid is asked for and no query vector can be had.
    """
    if query.ranking is Ranking.AUTO:
        return Ranking.HYBRID if vector_available else Ranking.LEXICAL
    if query.ranking is not Ranking.LEXICAL and not vector_available:
        reason = "no query vector can be made" if query.text.strip() else "a blank text has no query vector"
        raise SemanticUnavailable(f"{query.ranking} ranking is not possible: {reason}")
    return query.ranking
