"""How alike two normal forms are: edit distance up to 2,000 characters, shared trigrams beyond."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.similarity import EDIT_DISTANCE_UP_TO, edits, normal_form, similarities, similarity

FORMS = st.text(alphabet="abc é图", max_size=12).map(normal_form)
LONG_FORMS = st.builds(
    lambda word, times, rest: normal_form(word * times + rest),
    st.sampled_from(["abc ", "图数据", "lorem ipsum "]),
    st.integers(1, 900),
    st.text(alphabet="abc é图", max_size=8),
)


def optimal_string_alignment(text: str, other: str) -> int:
    """The distance by its definition, cell by cell."""
    rows = [list(range(len(other) + 1))]
    for i in range(1, len(text) + 1):
        row = [i]
        for j in range(1, len(other) + 1):
            replaced = rows[i - 1][j - 1] + (text[i - 1] != other[j - 1])
            row.append(min(rows[i - 1][j] + 1, row[j - 1] + 1, replaced))
            if i > 1 and j > 1 and text[i - 1] == other[j - 2] and text[i - 2] == other[j - 1]:
                row[j] = min(row[j], rows[i - 2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


@pytest.mark.parametrize(
    ("form", "other", "alike"),
    [
        pytest.param("abcd", "abcd", 1.0, id="equal"),
        pytest.param("", "", 0.0, id="two empty forms"),
        pytest.param("", "abcd", 0.0, id="one empty form"),
        pytest.param("abcd", "wxyz", 0.0, id="nothing in common"),
        pytest.param("abcd", "abxd", 0.75, id="replaced"),
        pytest.param("abcd", "abd", 0.75, id="deleted"),
        pytest.param("abc", "abxc", 0.75, id="inserted"),
        pytest.param("abcd", "abdc", 0.75, id="neighbours swapped"),
        pytest.param("ca", "abc", 0.0, id="no part is edited twice"),
        pytest.param("use port 8080", "use port 8081", 12 / 13, id="one digit of thirteen characters"),
        pytest.param("café au lait", "cafe au lait", 11 / 12, id="accent"),
    ],
)
def test_examples(form: str, other: str, alike: float) -> None:
    assert similarity(form, other) == alike


@given(FORMS, FORMS)
def test_short_forms_are_compared_by_optimal_string_alignment(form: str, other: str) -> None:
    distance = optimal_string_alignment(form, other)
    longer = max(len(form), len(other))
    assert similarity(form, other) == (float(Fraction(longer - distance, longer)) if longer else 0.0)
    assert edits(form, other, 2) == min(distance, 3)


@given(FORMS | LONG_FORMS, FORMS | LONG_FORMS)
def test_it_is_symmetric_and_between_0_and_1(form: str, other: str) -> None:
    alike = similarity(form, other)
    assert alike == similarity(other, form)
    assert 0.0 <= alike <= 1.0
    if max(len(form), len(other)) <= EDIT_DISTANCE_UP_TO:
        assert (alike == 1.0) is (form == other != "")


@given(FORMS | LONG_FORMS)
def test_a_form_is_like_itself_unless_it_is_empty(form: str) -> None:
    assert similarity(form, form) == (1.0 if form else 0.0)


@given(FORMS | LONG_FORMS, st.lists(FORMS | LONG_FORMS, max_size=4))
def test_many_comparisons_are_as_many_single_ones(form: str, others: list[str]) -> None:
    assert similarities(form, others) == [similarity(form, other) for other in others]


@given(FORMS | LONG_FORMS, st.lists(FORMS | LONG_FORMS, max_size=4), st.floats(0, 1) | st.sampled_from([0.5, 0.75, 0.9]))
def test_with_a_least_similarity_lower_ones_are_0_and_the_others_unchanged(form: str, others: list[str], least: float) -> None:
    alike = similarities(form, others)
    assert similarities(form, others, least) == [similar if similar >= least else 0.0 for similar in alike]


@pytest.mark.parametrize("size", [2_001, 3_000, 3_003, 5_999])
@pytest.mark.parametrize("changed", range(1, 2_000, 137))
def test_a_least_similarity_that_is_just_reached_is_kept(size: int, changed: int) -> None:
    form = "".join(chr(0x4E00 + at) for at in range(size))
    other = "".join(chr(0x9000 + at) for at in range(changed)) + form[changed:]
    alike = similarity(form, other)
    assert 0 < alike <= 1
    assert similarities(form, [other], alike) == [alike]
    assert similarities(form, [other], math.nextafter(alike, 2)) == [0.0]


def test_the_longer_form_decides_how_they_are_compared() -> None:
    form, swapped = "ab" * 1_000, "ba" * 1_000
    assert len(form) == EDIT_DISTANCE_UP_TO
    assert similarity(form, swapped) == (2_000 - 2) / 2_000
    longer = form + "cdefgh"
    trigrams = {longer[at : at + 3] for at in range(len(longer) - 2)}
    assert similarity(longer, swapped) == len({"aba", "bab"}) / len(trigrams)


def test_a_long_form_and_one_without_trigrams_have_nothing_in_common() -> None:
    assert similarity("a" * 2_001, "aa") == 0.0


def test_a_share_equals_the_threshold_that_names_it() -> None:
    """1 - 7 / 100 is less than 0.93 in floating point; 93 of 100 characters must not be."""
    for kept in range(50, 101):
        assert similarity("a" * 100, "a" * kept + "b" * (100 - kept)) == float(f"0.{kept:02}") or kept == 100
