"""Cuts documents into chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def chunks(segments: Sequence[str], max_chars: int) -> list[str]:
    """The document made of `segments`, cut into chunks of at most `max_chars` characters (at least 1).

    Segments are packed whole, in order, while they fit; one that is too long for any chunk is cut near its blank
    lines, else near its line ends. Chunks of white space only are dropped; otherwise the chunks joined are the
    document, character for character. What fits is one chunk, and text added at the end changes the last chunks only.
    """
    return [chunk for chunk in _packed(segments, max(1, max_chars)) if not chunk.isspace()]


def _packed(segments: Sequence[str], max_chars: int) -> Iterator[str]:
    open_parts: list[str] = []
    open_chars = 0
    for segment in segments:
        if open_chars + len(segment) > max_chars:
            if open_chars:
                yield "".join(open_parts)
            *closed, segment = _split(segment, max_chars)
            yield from closed
            open_parts, open_chars = [], 0
        open_parts.append(segment)
        open_chars += len(segment)
    if open_chars:
        yield "".join(open_parts)


def _split(text: str, max_chars: int) -> list[str]:
    pieces = []
    start = 0
    while len(text) - start > max_chars:
        cut = _cut(text, start, start + max_chars)
        pieces.append(text[start:cut])
        start = cut
    pieces.append(text[start:])
    return pieces


def _cut(text: str, start: int, end: int) -> int:
    """Where to end the piece that begins at `start` and may reach `end`; `text` goes on beyond `end`."""
    half = start + (end - start) // 2
    # "\n\r\n" also ends a blank line of CRLF text, whatever stands before it.
    for line_ends in (("\n\n", "\n\r\n"), ("\n",)):
        found = [at + len(ending) for ending in line_ends if (at := text.rfind(ending, half, end)) >= 0]
        if found:
            return max(found)
    if text[end - 1] == "\r" and text[end] == "\n" and end - 1 > start:
        return end - 1
    return end
