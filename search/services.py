"""The one seam of search: gate, time window, ranking, and the winners' drawers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from palace.clock import now
from palace.domain.drawer import Drawer
from palace.domain.limits import effective_limit
from palace.domain.modes import Caller
from palace.modes import require_read
from palace.store import current
from palace.store.drawers import read_drawers
from palace.store.hierarchy import matching_rooms, places
from search.domain.engine import ScopedRequest
from search.domain.query import SearchQuery, window
from search.domain.ranking import chosen_ranking
from search.engines import engine

DEFAULT_LIMIT = 10


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A drawer that answers a search, where it stands, and why it ranks where it does."""

    drawer: Drawer
    wing_name: str
    room_name: str
    score: float
    signals: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """All fields of the drawer, flat, with score, signals and the names of its place."""
        shape = self.drawer.as_json() | {
            "wing_name": self.wing_name,
            "room_name": self.room_name,
            "score": self.score,
        }
        return shape | ({"signals": dict(self.signals)} if self.signals else {})


async def search(caller: Caller, query: SearchQuery) -> list[SearchHit]:
    """The best drawers for a query, best first, ties by drawer id; an unknown wing or room finds nothing.

    Raises SemanticUnavailable when a ranking is asked that needs a vector nobody can give.
    """
    require_read(caller, "search")
    chosen_ranking(query, vector_available=False)
    rooms = None
    if query.scope.wing is not None or query.scope.room is not None:
        rooms = tuple(await matching_rooms(current(), query.scope.wing, query.scope.room))
    ranked = await engine().lexical(
        ScopedRequest(
            text=query.text,
            rooms=rooms,
            tags=query.scope.tags,
            source_kind=query.scope.source_kind,
            window=window(query.temporal, now()),
            learned_before=query.learned_before,
            limit=effective_limit(query.limit, DEFAULT_LIMIT),
        )
    )
    drawers = await read_drawers(current(), [hit.drawer_id for hit in ranked])
    names = await places(current(), [drawer.room for drawer in drawers.values()]) if drawers else {}
    hits = []
    for hit in ranked:
        # A drawer or room deleted since the ranking simply drops out.
        drawer = drawers.get(hit.drawer_id)
        if drawer is not None and drawer.room in names:
            hits.append(SearchHit(drawer, *names[drawer.room], hit.score, hit.signals))
    return hits
