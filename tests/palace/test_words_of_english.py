"""English inflections meet at their stem; frequency and order of a text are kept."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from palace.domain import words
from palace.domain.words import indexed_words, relaxed_terms, strict_alternatives, strict_terms, word_count


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("running", "run"),
        ("run", "Running"),
        ("decisions", "we decided on a decision"),
        ("embedded", "embedding"),
        ("Alice's", "asked Alice"),
        ("alice", "Alice’s dog"),
        ("don't", "don’t"),
        ("we'll", "we will"),
    ],
)
def test_inflections_find_each_other(query: str, text: str) -> None:
    assert set(strict_terms(query)) <= set(indexed_words(text).split())


def test_a_stem_stands_beside_its_word() -> None:
    assert indexed_words("Running tests") == "running run tests test"


def test_repeated_words_are_repeated_tokens() -> None:
    assert indexed_words("dog, cat; dog!") == "dog cat dog"


def test_strict_terms_are_distinct_and_in_order() -> None:
    assert strict_terms("cats dogs cat dogs") == ("cat", "dog")


def test_relaxed_terms_hold_words_and_stems() -> None:
    assert relaxed_terms("running dogs running") == ("running", "run", "dogs", "dog")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 0),
        ("apple", 1),
        ("apple !!! 👍", 1),
        ("apple zzz", 2),
        ("apple\u3000zzz", 2),
        ("图", 1),
        ("图数", 1),
        ("图数据库", 3),
        ("解析pdf", 2),
        ("데이터", 2),
    ],
)
def test_the_words_of_a_query_are_counted(query: str, count: int) -> None:
    assert word_count(query) == count


# The first text drawn on a machine waits for hypothesis to list all of Unicode.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SCRIPTS = st.characters(exclude_categories=["Cs"]) | st.sampled_from("aBcÄß図データ국어ไทยน้ำשָׁأَ2_9 '’\u0301\ufe0f\u200d™")


@unhurried
@given(st.text(SCRIPTS, max_size=80))
def test_every_word_of_a_text_finds_the_text(text: str) -> None:
    stored = set(indexed_words(text).split())
    for query in [text, *text.split()]:
        for terms in strict_alternatives(query):
            assert set(terms) <= stored
        assert set(strict_terms(query)) <= set(relaxed_terms(query)) <= stored


@unhurried
@given(st.text(SCRIPTS, max_size=80))
def test_tokens_are_separated_by_single_spaces(text: str) -> None:
    assert indexed_words(text) == " ".join(indexed_words(text).split())


def test_threads_get_the_same_tokens_while_the_memory_of_words_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "REMEMBERED_WORDS", 50)
    monkeypatch.setattr(words, "_tokens_of", words._Expansions())
    texts = [" ".join(f"runningWord{n}_{m}" for n in range(60)) for m in range(20)]
    expected = list(map(indexed_words, texts))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(indexed_words, texts * 4)) == expected * 4
    finally:
        sys.setswitchinterval(interval)
    assert len(words._tokens_of) <= 50 + 4


def test_long_runs_are_not_remembered() -> None:
    indexed_words("甲" * 1000 + " " + "z" * 1000)
    assert all(len(word) <= words.LONGEST_WORD for word in words._tokens_of)
