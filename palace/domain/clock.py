"""Time as the palace writes it.

Every stored instant is text in one canonical form, UTC with nine fractional digits and `Z`, so that the order of
the texts is the order of the instants. This module holds the only writer of that form.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

NANOSECONDS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?\s*([Zz]|[+-]\d{2}:\d{2})",
    re.ASCII,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

Timestamp = str
"""An instant in canonical text form."""


def canonical(nanoseconds: int) -> Timestamp:
    """The canonical text of an instant given in nanoseconds since 1970 (UTC)."""
    seconds, rest = divmod(nanoseconds, NANOSECONDS)
    moment = _EPOCH + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z" if moment.year >= 1000 else f"{moment.isoformat()[:19]}.{rest:09d}Z"


def nanoseconds(text: str) -> int:
    """Nanoseconds since 1970 of an RFC 3339 instant, with any offset; digits past the ninth are dropped.

    Raises ValueError for anything else, a bare date included.
    """
    match = _RFC3339.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an RFC 3339 instant such as 2026-03-01T12:00:00Z")
    year, month, day, hour, minute, second, fraction, offset = match.groups()
    leap = second == "60"
    moment = datetime(int(year), int(month), int(day), int(hour), int(minute), 59 if leap else int(second), tzinfo=UTC)
    delta = moment - _EPOCH
    total = (delta.days * 86_400 + delta.seconds + leap) * NANOSECONDS
    if fraction:
        total += int(fraction[:9].ljust(9, "0"))
    if offset not in "Zz":
        hours, minutes = int(offset[1:3]), int(offset[4:6])
        if hours > 23 or minutes > 59:
            raise ValueError(f"{text!r} has an impossible offset")
        shift = (hours * 60 + minutes) * 60 * NANOSECONDS
        total += shift if offset[0] == "-" else -shift
    return total


def instant(text: str) -> Timestamp:
    """The canonical form of an RFC 3339 instant or of a date (`YYYY-MM-DD`, midnight UTC at its start).

    Raises ValueError, with the accepted forms in its message.
    """
    stripped = text.strip()
    try:
        if _DATE.fullmatch(stripped):
            stripped += "T00:00:00Z"
        return canonical(nanoseconds(stripped))
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"{text!r} is not an instant; write RFC 3339 (2026-03-01T12:00:00Z, any offset) "
            "or a date (2026-03-01, midnight UTC)"
        ) from error


def after(moment: Timestamp) -> Timestamp:
    """The next instant, one nanosecond later."""
    return canonical(nanoseconds(moment) + 1)


def add_seconds(moment: Timestamp, seconds: float) -> Timestamp:
    """The instant `seconds` later (or earlier, when negative)."""
    return canonical(nanoseconds(moment) + int(seconds * NANOSECONDS))
