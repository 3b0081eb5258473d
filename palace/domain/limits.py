"""How many rows a listing gives."""

from __future__ import annotations

LARGEST_LIMIT = 200


def effective_limit(requested: int | None, default: int) -> int:
    """The limit in force: absent or 0 is the default, a large one is capped and never an error."""
    return min(requested, LARGEST_LIMIT) if requested else default
