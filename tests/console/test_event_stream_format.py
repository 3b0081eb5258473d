"""The text format of event streams is read as the HTML standard says, however the bytes arrive."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcastle_site.console.sse import LARGEST_FRAME, Frame, FrameParser, FrameTooLarge

LINE_ENDS = st.sampled_from(["\n", "\r", "\r\n"])
# What a line can hold: anything but line ends. Surrogates have no UTF-8.
TEXT = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12)
IDS = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=6)
NOISE = st.sampled_from([": a comment", ":", "retry: 3000", "colour: blue", "data-like", "id: has\0nul"])


def read(text: str | bytes, *, last_id: str = "") -> list[Frame]:
    return FrameParser(last_id).feed(text.encode() if isinstance(text, str) else text)


@st.composite
def streams(draw: st.DrawFn) -> tuple[str, list[Frame]]:
    """A stream as some server might write it, and the frames in it."""
    lines: list[str] = []
    frames = []
    last_id = ""
    for name, data, identity in draw(st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=3), st.none() | IDS), max_size=6)):
        fields = [f"data: {line}" for line in data]
        if name:
            fields.insert(draw(st.integers(0, len(fields))), f"event: {name}")
        if identity is not None:
            fields.insert(draw(st.integers(0, len(fields))), f"id: {identity}")
            last_id = identity
        for noise in draw(st.lists(NOISE, max_size=2)):
            fields.insert(draw(st.integers(0, len(fields))), noise)
        if data:
            frames.append(Frame(name or "message", "\n".join(data), last_id))
        lines += [*fields, ""]
    text = ""
    for line in lines:
        end = draw(LINE_ENDS)
        # A line feed behind a carriage return would be one end of line, not a further one.
        text += line + ("\r" if end == "\n" and not line and text.endswith("\r") else end)
    return text, frames


@given(streams(), st.data())
def test_frames_do_not_depend_on_line_ends_and_pieces(stream: tuple[str, list[Frame]], data: st.DataObject) -> None:
    text, frames = stream
    content = text.encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(content)), max_size=8)))
    parser = FrameParser()
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        found += parser.feed(content[start:end])
    assert found == frames


@given(st.binary(max_size=200), st.integers(1, 7))
def test_any_bytes_are_read_alike_in_one_piece_and_in_many(content: bytes, size: int) -> None:
    parser = FrameParser()
    pieces = [frame for start in range(0, len(content), size) for frame in parser.feed(content[start : start + size])]
    assert pieces == read(content)


def test_a_frame_is_complete_with_its_empty_line_and_not_a_byte_later() -> None:
    for end in ("\n", "\r", "\r\n"):
        assert read(f"event: job{end}data: 1{end}{end}") == [Frame("job", "1", "")]


def test_a_torn_frame_is_no_frame() -> None:
    assert read("data: whole\n\ndata: torn\n") == [Frame("message", "whole", "")]


def test_an_id_holds_until_the_next_even_without_data() -> None:
    parser = FrameParser("0-0")
    assert parser.feed(b"data: a\n\n") == [Frame("message", "a", "0-0")]
    assert parser.feed(b"id: 7-1\n\ndata: b\n\n") == [Frame("message", "b", "7-1")]
    assert parser.last_id == "7-1"
    parser.feed(b"id: 8-0\ndata: torn\n")
    assert parser.last_id == "7-1"


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    parser = FrameParser()
    assert parser.feed(b"\xef") == []
    assert parser.feed(b"\xbb\xbfdata: a\n\n") == [Frame("message", "a", "")]


def test_bytes_that_are_no_text_do_not_end_the_stream() -> None:
    assert read(b"data: \xff\n\n") == [Frame("message", "\ufffd", "")]


def test_only_one_space_belongs_to_the_colon() -> None:
    assert read("data:  a\ndata:b\ndata\n\n") == [Frame("message", " a\nb\n", "")]


@pytest.mark.parametrize("piece", [b"x" * 4096, b"data: " + b"x" * 4096 + b"\n"], ids=["one line", "many lines"])
def test_a_frame_without_end_is_given_up(piece: bytes) -> None:
    parser = FrameParser()
    with pytest.raises(FrameTooLarge):
        list(map(parser.feed, itertools.repeat(piece, LARGEST_FRAME // 4096 + 1)))
