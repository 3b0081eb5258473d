"""The seam between the search contract and the engines that rank.

An engine ranks drawers of a scope and says why; it knows no door and fetches no content. Whatever engine answers,
membership and order are the contract's: scope before ranking, ranking before the limit, ties by drawer id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from palace.domain.clock import Timestamp
from search.domain.query import SourceKind, TimeWindow
from search.domain.ranking import Ranked


@dataclass(frozen=True, slots=True)
class ScopedRequest:
    """A text and the drawers it may be answered from.

    `rooms` are room ids, None for the whole palace; `window` None means no time filter. With `learned_before` drawers
    stored later do not exist yet, and those whose end was recorded later have not ended.
    """

    text: str
    rooms: tuple[str, ...] | None
    tags: tuple[str, ...]
    source_kind: SourceKind | None
    window: TimeWindow | None
    limit: int
    learned_before: Timestamp | None = None


class Engine(Protocol):
    """Ranks drawers."""

    async def lexical(self, request: ScopedRequest) -> list[Ranked]:
        """Best matches by words, at most `request.limit`: every word must match, or, when no drawer has them all and
        the text has several words, any of them."""
        ...
