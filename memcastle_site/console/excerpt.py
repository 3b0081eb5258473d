"""Chooses the lines of a drawer that show why it was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memcastle_site.console.text import harmless_line

EXCERPT_LINES = 3
_WORDS = re.compile(r"\w+")
_CUT = "…"


def excerpt(content: str, query: str, columns: int) -> list[str]:
    """At most three lines, each at most `columns` wide, with an ellipsis wherever something was left out.

    Lines that hold most of the query's words come first to be chosen; they are shown in their order. Words are compared
    without case and by their beginning, since the search knows stems. Without any match the content's beginning is shown.
    """
    words = [_stemmed(word) for word in _WORDS.findall(query.casefold())]
    lines = [line for line in content.splitlines() if line.strip()]
    folded = [line.casefold() for line in lines]
    scores = [sum(word in line for word in words) for line in folded]
    best = sorted(range(len(lines)), key=lambda index: (-scores[index], index))[:EXCERPT_LINES]
    chosen = sorted(index for index in best if scores[index] or not any(scores))
    shown = [_window(lines[index].strip(), words, columns) for index in chosen]
    if shown and chosen[-1] < len(lines) - 1 and not shown[-1].endswith(_CUT):
        shown[-1] = _fitted(shown[-1] + " " + _CUT, columns) if _width(shown[-1]) + 2 <= columns else _cut(shown[-1], columns)
    return shown


def _stemmed(word: str) -> str:
    """The beginning of a long word: enough to find its other endings."""
    return word[:-2] if len(word) > 5 else word


def _window(line: str, words: list[str], columns: int) -> str:
    """The part of a line around its first matching word."""
    text = harmless_line(line)
    if _width(text) <= columns:
        return text
    folded = text.casefold()
    found = [place for place in (folded.find(word) for word in words) if place >= 0]
    start = max(min(found, default=0) - columns // 4, 0)
    # Case folding may lengthen a text, so a place found in it is only near the one in the text itself.
    start = min(start, max(len(text) - columns // 2, 0))
    return _cut((_CUT if start else "") + text[start:].lstrip(), columns)


def _cut(text: str, columns: int) -> str:
    return text if _width(text) <= columns else _fitted(text, columns - 1).rstrip() + _CUT


def _fitted(text: str, columns: int) -> str:
    """The longest beginning of the text that is at most `columns` wide."""
    used = 0
    for index, width in enumerate(_widths(text)):
        used += width
        if used > columns:
            return text[:index]
    return text


def _width(text: str) -> int:
    return sum(_widths(text))


def _widths(text: str) -> Iterator[int]:
    """Columns that each character takes: two for East Asian wide ones, none for combining marks."""
    for character in text:
        if unicodedata.combining(character):
            yield 0
        else:
            yield 2 if unicodedata.east_asian_width(character) in "WF" else 1
