"""The full-text queries of the surreal engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from palace.store import Store
from search.domain.engine import ScopedRequest

# A word that half of the drawers hold scores 0, so a score alone decides neither membership nor order.
ALL_WORDS = """
SELECT record::id(id) AS id, search::score(1) AS score FROM drawer
WHERE words @1@ $terms {scope} ORDER BY score DESC, id ASC LIMIT $limit;
"""
ANY_WORD = ALL_WORDS.replace("@1@", "@1,OR@")
IN_ROOMS = "AND room IN $rooms"
WITH_TAGS = "AND tags CONTAINSALL $tags"
OF_KIND = "AND source.kind = $kind"
VALID = "AND valid_from < $window_end AND (!valid_to OR valid_to > $window_start)"
# An end that was recorded later was not known yet: the drawer counts as open.
VALID_AS_KNOWN = """AND valid_from < $window_end
    AND (!valid_to OR valid_to > $window_start OR (ended_at ?? valid_to) >= $learned_before)"""
LEARNED = "AND created_at < $learned_before"


async def match_words(store: Store, request: ScopedRequest, terms: Sequence[str], *, any_word: bool) -> list[dict[str, Any]]:
    """Drawers of the scope that hold all (or any) of the terms, best first: rows of `id` and `score`."""
    predicates: list[str] = []
    variables: dict[str, Any] = {"terms": " ".join(terms), "limit": request.limit}
    if request.rooms is not None:
        predicates.append(IN_ROOMS)
        variables["rooms"] = list(request.rooms)
    if request.tags:
        predicates.append(WITH_TAGS)
        variables["tags"] = list(request.tags)
    if request.source_kind is not None:
        predicates.append(OF_KIND)
        variables["kind"] = request.source_kind.value
    if request.window is not None:
        predicates.append(VALID if request.learned_before is None else VALID_AS_KNOWN)
        variables |= {"window_start": request.window.start, "window_end": request.window.end}
    if request.learned_before is not None:
        predicates.append(LEARNED)
        variables["learned_before"] = request.learned_before
    statement = (ANY_WORD if any_word else ALL_WORDS).format(scope=" ".join(predicates))
    rows: list[dict[str, Any]] = await store.first(statement, **variables)
    return rows
