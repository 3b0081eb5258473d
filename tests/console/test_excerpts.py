"""The lines of a drawer that a search shows on a terminal."""

from __future__ import annotations

import pytest

from memcastle_site.console.excerpt import excerpt


def test_the_lines_that_match_are_shown_in_their_order() -> None:
    content = "alpha\n\nbeta gamma\ndelta\ngamma\nbeta\n"
    assert excerpt(content, "beta gamma", 40) == ["beta gamma", "gamma", "beta"]


def test_a_short_content_is_shown_whole_and_without_an_ellipsis() -> None:
    assert excerpt("one\ntwo\n", "nothing", 40) == ["one", "two"]


def test_an_ellipsis_stands_for_the_lines_below() -> None:
    assert excerpt("one\ntwo\nthree\nfour\n", "nothing", 40) == ["one", "two", "three …"]


def test_other_endings_of_a_word_match() -> None:
    assert excerpt("a\nb\nc\nthe configurations\n", "configuration", 40) == ["the configurations"]


def test_a_long_line_is_cut_around_its_match() -> None:
    line = "x" * 500 + " needle " + "y" * 500
    (shown,) = excerpt(line, "needle", 60)
    assert "needle" in shown
    assert len(shown) <= 60
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_wide_characters_take_two_columns() -> None:
    (shown,) = excerpt("我们决定使用图数据库" * 10, "图数据库", 20)
    assert len(shown) <= 11
    assert "图数据库" in shown


@pytest.mark.parametrize("query", ["", "!!!", "\x1b"])
def test_a_query_without_words_shows_the_beginning(query: str) -> None:
    assert excerpt("one\ntwo", query, 40) == ["one", "two"]


def test_control_characters_are_spelled_out_and_case_folding_may_lengthen() -> None:
    assert excerpt("\x1b[2J STRASSE", "straße", 40) == ["\\x1b[2J STRASSE"]
    (shown,) = excerpt("ß" * 300 + " needle", "needle", 40)
    assert len(shown) <= 40


def test_an_empty_content_has_no_excerpt() -> None:
    assert excerpt("\n \n", "x", 40) == []
