"""Reads server-sent events, the text format of `GET /api/events`, from bytes in whatever pieces they arrive.

The rules are those of the HTML standard, "Interpreting an event stream", without `retry`: a follower has pauses of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LARGEST_FRAME = 1 << 20
"""Most bytes of a frame; one of ours has about two hundred."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class FrameTooLarge(Exception):
    """The stream sent more than LARGEST_FRAME bytes without ending a frame."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event: its name (`message` when it has none), its data, and the id in force when it ended."""

    event: str
    data: str
    id: str


class FrameParser:
    """Turns the bytes of one stream into frames. `last_id` is what a reconnect tells the server."""

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id
        self._rest = b""
        self._started = False
        self._after_return = False
        self._reset(last_id)

    def _reset(self, last_id: str) -> None:
        self._name = ""
        self._data: list[str] = []
        self._id = last_id
        self._size = 0

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that these bytes complete. A comment completes none. Raises FrameTooLarge."""
        *lines, self._rest = self._lines(chunk)
        frames = [frame for line in lines if (frame := self._line(line)) is not None]
        if self._size + len(self._rest) > LARGEST_FRAME:
            raise FrameTooLarge(f"a frame of the event stream has more than {LARGEST_FRAME:,} bytes")
        return frames

    def _lines(self, chunk: bytes) -> list[bytes]:
        """The lines that end in the chunk, and last what has not ended."""
        # A carriage return ends its line at once, so that the frame need not wait for the next byte to be seen. When
        # that byte is a line feed, it belongs to the end that was counted.
        if self._after_return and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_return = False
        self._after_return = self._after_return or chunk.endswith(b"\r")
        text = self._rest + chunk
        if not self._started:
            if len(text) < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK.startswith(text):
                return [text]
            self._started = True
            text = text.removeprefix(_BYTE_ORDER_MARK)
        return _LINE_END.split(text)

    def _line(self, line: bytes) -> Frame | None:
        if not line:
            return self._dispatch()
        self._size += len(line)
        name, _, value = line.decode("utf-8", errors="replace").partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
            case "id" if "\0" not in value:
                self._id = value
        return None

    def _dispatch(self) -> Frame | None:
        self.last_id = self._id
        frame = Frame(self._name or "message", "\n".join(self._data), self._id) if self._data else None
        self._reset(self.last_id)
        return frame
