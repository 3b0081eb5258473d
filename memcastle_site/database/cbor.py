"""Just enough CBOR to take a request apart and to put an answer together without looking at the values in them.

What clients send reaches the engine byte for byte, and what the engine answers reaches them so, which keeps every type
and every digit. Only the map around a request is read here.
"""

from __future__ import annotations

from collections.abc import Iterator

MAX_DEPTH = 100
"""How deep a message may be nested, its own map and list of parameters included. The engine takes no more either."""

_LARGEST_INTEGER = 2**63 - 1
_OPEN = -1
_BREAK = 0xFF


class Malformed(Exception):
    """The bytes are no message of this protocol; the text says why."""


def entries(message: bytes) -> Iterator[tuple[str, bytes]]:
    """The keys of the message's map, each with its value still encoded.

    Raises Malformed for anything but one whole map with texts as keys, at most MAX_DEPTH deep, without integers that the
    engine would take for others.
    """
    if item_end(message, 0) != len(message):
        raise Malformed("there is more than one value in the message")
    if message[0] >> 5 != 5:
        raise Malformed("the message is no object")
    return _pairs(message)


def _pairs(message: bytes) -> Iterator[tuple[str, bytes]]:
    at, count = _argument(message, 0)
    while count != 0 and not (count == _OPEN and message[at] == _BREAK):
        middle = item_end(message, at)
        end = item_end(message, middle)
        yield text_of(message[at:middle]), message[middle:end]
        at = end
        count = max(count - 1, _OPEN) if count != _OPEN else _OPEN


def elements(array: bytes) -> list[bytes]:
    """The items of an encoded array, still encoded. Raises Malformed for anything else."""
    if array[0] >> 5 != 4:
        raise Malformed("the parameters are no list")
    at, count = _argument(array, 0)
    found = []
    while count != 0 and not (count == _OPEN and array[at] == _BREAK):
        end = item_end(array, at)
        found.append(array[at:end])
        at = end
        count = count - 1 if count != _OPEN else _OPEN
    return found


def is_text(item: bytes) -> bool:
    """Whether an encoded item is a text."""
    return item[0] >> 5 == 3


def text_of(item: bytes) -> str:
    """The text that an item encodes. Raises Malformed when it is something else."""
    if not is_text(item):
        raise Malformed("a text is expected")
    at, length = _argument(item, 0)
    pieces = []
    if length != _OPEN:
        pieces.append(item[at : at + length])
    else:
        while item[at] != _BREAK:
            at, length = _argument(item, at)
            pieces.append(item[at : at + length])
            at += length
    try:
        return b"".join(pieces).decode()
    except UnicodeDecodeError:
        raise Malformed("a text is not UTF-8") from None


def item_end(data: bytes, at: int) -> int:
    """Where the item that begins at `at` ends. Raises Malformed when it does not, or is too deep."""
    left: list[int] = []
    """How many items each open container still lacks; _OPEN for those that end with a break."""
    size = len(data)
    try:
        while True:
            head = data[at]
            if head == _BREAK:
                if not left or left[-1] != _OPEN:
                    raise Malformed("a container ends that was not open")
                left.pop()
                at += 1
            else:
                at, argument = _argument(data, at)
                major = head >> 5
                if major in (2, 3) and argument != _OPEN:
                    at += argument
                elif major < 2 and argument > _LARGEST_INTEGER:
                    raise Malformed("an integer does not fit into 64 bits")
                items = (0, 0, 0, 0, argument, argument * 2, 1, 0)[major]
                if argument == _OPEN or items:
                    left.append(_OPEN if argument == _OPEN else items)
                    if len(left) > MAX_DEPTH:
                        raise Malformed(f"it is nested more than {MAX_DEPTH} deep")
                    continue
            while left and left[-1] != _OPEN:
                left[-1] -= 1
                if left[-1]:
                    break
                left.pop()
            if not left:
                break
    except IndexError:
        at = size + 1
    if at > size:
        raise Malformed("the message ends too early")
    return at


def _argument(data: bytes, at: int) -> tuple[int, int]:
    """Where the head at `at` ends, and its argument; _OPEN for a container or string of unknown length."""
    head = data[at]
    info = head & 31
    if info < 24:
        return at + 1, info
    if info < 28:
        end = at + 1 + (1 << (info - 24))
        if end > len(data):
            raise Malformed("the message ends too early")
        return end, int.from_bytes(data[at + 1 : end], "big")
    if info == 31 and 2 <= head >> 5 <= 5:
        return at + 1, _OPEN
    raise Malformed("it is no CBOR")
