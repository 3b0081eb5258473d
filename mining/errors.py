"""Errors of mining sources (`docs/errors.md`)."""

from __future__ import annotations

from palace.errors import MemCastleError


class SourceFailed(MemCastleError):
    """A source failed while it was listing, reading or normalising its documents."""

    code = "memcastle::source::failed"
    help = "What was filed before stays filed. Correct what the message names, then run `python manage.py job retry JOB`."


class SourceCursorInvalid(MemCastleError):
    """The stored position of a source is not one that this version of it wrote."""

    code = "memcastle::source::cursor_invalid"
    help = "Mine once with --full: everything is read again and nothing is filed twice."
