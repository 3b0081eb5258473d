"""Errors of search (`docs/errors.md`)."""

from __future__ import annotations

from palace.errors import MemCastleError


class SemanticUnavailable(MemCastleError):
    """A ranking that needs a query vector was asked for by name, and there is none."""

    code = "memcastle::search::semantic_unavailable"
    status = 400
    help = "Ask with ranking=lexical or ranking=auto. This version ranks by words; it has no vectors to compare."
