"""The words by which drawers that may resemble a new text are looked for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from palace.domain.similarity import normal_form, query_words


def test_the_longest_come_first_then_in_alphabetical_order() -> None:
    assert query_words(normal_form("We use the port 8080, the PORT of the daemon.")) == ["daemon", "8080", "port", "the", "use"]


def test_words_of_fewer_than_three_characters_are_left_out() -> None:
    assert query_words("it is so ok 图数 an abc") == ["abc"]


def test_at_most_forty_eight_words_are_kept() -> None:
    words = query_words(" ".join(f"{number:04}" for number in range(100)))
    assert words == [f"{number:04}" for number in range(48)]


@given(st.text())
def test_they_are_distinct_words_of_the_form(text: str) -> None:
    form = normal_form(text)
    words = query_words(form)
    assert len(set(words)) == len(words) <= 48
    assert set(words) <= set(form.split(" "))
