"""How documents are cut into chunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mining.domain.chunker import chunks

TEXT = st.text(alphabet=st.sampled_from("ab \n\r\t.é图"), max_size=120)
SEGMENTS = st.lists(TEXT, max_size=6)
LIMIT = st.integers(1, 30)


def gaps(document: str, found: list[str]) -> list[str]:
    """What lies between the chunks, before the first and after the last, in the document."""
    between, position = [], 0
    for chunk in found:
        start = document.index(chunk, position)
        between.append(document[position:start])
        position = start + len(chunk)
    return [*between, document[position:]]


@given(SEGMENTS, LIMIT)
def test_chunks_joined_are_the_document_apart_from_dropped_white_space(segments: list[str], limit: int) -> None:
    assert not "".join(gaps("".join(segments), chunks(segments, limit))).strip()


@given(st.lists(st.text(min_size=1).map(lambda text: "".join(f"{c}." for c in text)), max_size=6), st.integers(2, 30))
def test_nothing_is_lost_where_white_space_never_fills_a_chunk(segments: list[str], limit: int) -> None:
    assert "".join(chunks(segments, limit)) == "".join(segments)


@given(SEGMENTS, LIMIT)
def test_no_chunk_is_longer_than_the_limit_or_white_space_only(segments: list[str], limit: int) -> None:
    for chunk in chunks(segments, limit):
        assert len(chunk) <= limit
        assert chunk.strip()


@given(SEGMENTS)
def test_a_document_that_fits_is_one_chunk(segments: list[str]) -> None:
    document = "".join(segments)
    assert chunks(segments, max(1, len(document))) == ([document] if document.strip() else [])


@given(SEGMENTS, SEGMENTS, LIMIT)
def test_added_segments_change_the_last_chunk_only(segments: list[str], added: list[str], limit: int) -> None:
    before = chunks(segments, limit)
    assert chunks(segments + added, limit)[: max(0, len(before) - 1)] == before[:-1]


@given(TEXT, TEXT, LIMIT)
def test_text_added_to_a_segment_changes_the_last_chunk_only(text: str, added: str, limit: int) -> None:
    before = chunks([text], limit)
    assert chunks([text + added], limit)[: max(0, len(before) - 1)] == before[:-1]


@given(TEXT, st.integers(2, 30))
def test_a_crlf_is_never_cut_in_two(text: str, limit: int) -> None:
    unified = text.replace("\r", "").replace("\n", "\r\n")
    for chunk in chunks([unified], limit):
        assert not chunk.startswith("\n")
        assert not chunk.endswith("\r")


def test_nothing_gives_no_chunk() -> None:
    assert chunks([], 10) == []
    assert chunks(["", ""], 10) == []
    assert chunks([" \n\t"], 10) == []


def test_a_limit_below_one_counts_as_one() -> None:
    assert chunks(["abc"], 0) == ["a", "b", "c"]


def test_whole_segments_are_packed_while_they_fit() -> None:
    assert chunks(["aaa", "bbb", "ccc", "d"], 7) == ["aaabbb", "cccd"]


def test_an_oversized_segment_closes_the_open_chunk_and_its_last_piece_stays_open() -> None:
    assert chunks(["ab", "cccccccccc", "de"], 8) == ["ab", "cccccccc", "ccde"]


def test_a_blank_line_in_the_second_half_is_the_first_choice() -> None:
    assert chunks(["aaaaaa\n\nb\ncccccc"], 12) == ["aaaaaa\n\n", "b\ncccccc"]
    assert chunks(["aaaaaaa\r\n\r\nb\r\nccccc"], 16) == ["aaaaaaa\r\n\r\n", "b\r\nccccc"]


def test_a_blank_line_in_the_first_half_is_passed_over_for_a_line_end_in_the_second() -> None:
    assert chunks(["a\n\nbbbb\ncccccc"], 10) == ["a\n\nbbbb\n", "cccccc"]


def test_a_text_without_line_ends_in_reach_is_cut_at_the_limit() -> None:
    assert chunks(["a\nbbbbbbbbbbbb"], 6) == ["a\nbbbb", "bbbbbb", "bb"]


def test_very_long_texts_are_cut_without_copying_what_remains() -> None:
    line = "x" * 1_000_000
    assert "".join(chunks([line], 6000)) == line
    lines = "All work and no play.\n" * (64 * 1024 * 1024 // 22)
    found = chunks([lines], 200)
    assert len(found) == -(-len(lines) // 198)
    assert "".join(found) == lines
