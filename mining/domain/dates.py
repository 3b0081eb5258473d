"""Dates as users write them in the options of a run."""

from __future__ import annotations

import re

from palace.domain.clock import Timestamp, instant

_MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)


def since(text: str) -> Timestamp:
    """The instant meant by a month (`2026-09`), a day (`2026-09-14`) or an RFC 3339 instant, read as UTC.

    Raises ValueError, with the accepted forms in its message.
    """
    stripped = text.strip()
    try:
        return instant(f"{stripped}-01" if _MONTH.fullmatch(stripped) else stripped)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a date; write a month (2026-09), a day (2026-09-14) or RFC 3339 (2026-09-14T12:00:00Z)"
        ) from None
