"""Ranking inside the database: BM25 over the words column, one scope predicate."""

from __future__ import annotations

from palace.domain.words import relaxed_terms, strict_alternatives, word_count
from palace.store import current
from search import store
from search.domain.engine import ScopedRequest
from search.domain.ranking import Ranked, ordered


class SurrealEngine:
    """Answers from SurrealDB's full-text index."""

    async def lexical(self, request: ScopedRequest) -> list[Ranked]:
        """See `search.domain.engine.Engine.lexical`."""
        if request.rooms is not None and not request.rooms:
            return []
        scores: dict[str, float] = {}
        for terms in strict_alternatives(request.text):
            for row in await store.match_words(current(), request, terms, any_word=False):
                scores[row["id"]] = max(row["score"], scores.get(row["id"], 0.0))
        if not scores and word_count(request.text) > 1:
            rows = await store.match_words(current(), request, relaxed_terms(request.text), any_word=True)
            scores = {row["id"]: row["score"] for row in rows}
        ranked = [Ranked(id, score, {"lexical": score}) for id, score in scores.items()]
        return ordered(ranked)[: request.limit]
