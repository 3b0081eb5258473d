"""Turns stored values into text that a terminal can show safely."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Everything a terminal could obey instead of show: control characters other than tab and line feed, the bidirectional
# controls that reorder what follows them, and surrogates, which no encoding can write.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSAFE_IN_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SPELLED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def harmless(text: str) -> str:
    """Text of any number of lines with every control character spelled out; CRLF counts as a line end."""
    return _UNSAFE.sub(_spell, text.replace("\r\n", "\n"))


def harmless_line(text: str) -> str:
    """As `harmless`, for a name or another text that must stay on its line: line ends and tabs are spelled out too."""
    return _UNSAFE_IN_LINE.sub(_spell, text)


def _spell(match: re.Match[str]) -> str:
    character = match.group()
    if character in _SPELLED:
        return _SPELLED[character]
    return f"\\x{ord(character):02x}" if ord(character) < 0x100 else f"\\u{ord(character):04x}"


def shortened(text: str, limit: int) -> str:
    """The text on one line in at most `limit` characters; an ellipsis stands for what was left out."""
    line = harmless_line(" ".join(text.split()))
    return line if len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"


def preview(summary: Mapping[str, Any], limit: int) -> str:
    """The preview of a drawer summary, in at most `limit` characters, with an ellipsis unless it is the whole content."""
    text = str(summary.get("preview") or "")
    whole = len(text) >= int(summary.get("chars") or 0)
    return shortened(text if whole or text.endswith("…") else text + "…", limit)


def moment(timestamp: str | None) -> str:
    """An instant in canonical form, to the second, for people."""
    return f"{timestamp[:10]} {timestamp[11:19]} UTC" if timestamp and len(timestamp) >= 19 else "–"


def duration(seconds: float) -> str:
    """A length of time: `12s`, `3m 4s`, `2h 3m 4s`, `1d 2h 3m 4s`."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    parts = [(days, "d"), (hour, "h"), (minute, "m"), (second, "s")]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    return " ".join(f"{amount}{unit}" for amount, unit in parts)


def counted(amount: int, singular: str, plural: str | None = None) -> str:
    """`1 room`, `2 rooms`."""
    return f"{amount:,} {singular if amount == 1 else plural or singular + 's'}"
