"""Verdicts on a new text: exact, normalized, near or nothing, and the links that are recorded."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.duplicates import Likeness, Verdict, links, matches, shown
from palace.domain.similarity import fingerprint, similarity

NOW = "2026-12-01T00:00:00.000000000Z"
LATER = "2026-12-02T00:00:00.000000000Z"


def verdict(text: str, older: str, threshold: float = 0.9) -> Verdict | None:
    found = matches("new", Likeness.of(text), {"old": Likeness.of(older)}, threshold)
    return found[0].verdict if found else None


@pytest.mark.parametrize(
    ("text", "older", "expected"),
    [
        pytest.param("use port 8080", "use port 8080", Verdict.EXACT, id="copy"),
        pytest.param("use port 8080\r\n", "use port 8080\n", Verdict.EXACT, id="copy with other line ends"),
        pytest.param("!!!", "!!!", Verdict.EXACT, id="copy without a letter"),
        pytest.param("Use port 8080!", "use  port, 8080", Verdict.NORMALIZED, id="case, comma, space"),
        pytest.param("Cat", "cat", Verdict.NORMALIZED, id="short, another case"),
        pytest.param("!!!", "???", None, id="no letter in either"),
        pytest.param("use port 8080", "use port 8081", Verdict.NEAR, id="one digit of thirteen characters"),
        pytest.param("the café is open on sundays", "the cafe is open on sundays", Verdict.NEAR, id="accent"),
        pytest.param("café", "cafe", None, id="accent in a short text"),
        pytest.param("cat", "car", None, id="one letter of a short text"),
        pytest.param("abcdefghijk", "abcdefghijkl", None, id="new text of 11 characters"),
        pytest.param("abcdefghijkl", "abcdefghijk", Verdict.NEAR, id="new text of 12 characters, older of 11"),
        pytest.param("we chose tabs for indentation", "the release is planned for may", None, id="another matter"),
    ],
)
def test_verdicts(text: str, older: str, expected: Verdict | None) -> None:
    assert verdict(text, older) is expected


@pytest.mark.parametrize(("threshold", "expected"), [(0.9, Verdict.NEAR), (0.91, None), (0.5, Verdict.NEAR)])
def test_the_threshold_itself_is_near(threshold: float, expected: Verdict | None) -> None:
    assert verdict("a" * 18 + "bb", "a" * 20, threshold) is expected


def test_the_signals_say_what_is_the_same() -> None:
    found = matches(
        "new",
        Likeness.of("Use port 8080"),
        {"a": Likeness.of("Use port 8080"), "b": Likeness.of("use port 8080"), "c": Likeness.of("use port 8081")},
    )
    assert [(match.drawer, match.same_hash, match.same_fingerprint) for match in found] == [
        ("a", True, True),
        ("b", False, True),
        ("c", False, False),
    ]
    assert [match.similarity for match in found] == [1.0, 1.0, 12 / 13]


def test_a_copy_without_a_letter_has_no_fingerprint_in_common() -> None:
    [match] = matches("new", Likeness.of("!!!"), {"old": Likeness.of("!!!")})
    assert (match.similarity, match.same_hash, match.same_fingerprint) == (1.0, True, False)


def test_a_drawer_is_never_compared_with_itself() -> None:
    assert matches("new", Likeness.of("use port 8080"), {"new": Likeness.of("use port 8080")}) == []


@given(st.permutations(range(8)))
def test_the_closest_come_first_whatever_the_order_of_candidates(order: list[int]) -> None:
    text = "the release is planned for the first week of may"
    candidates = {
        "1": text,
        "0": text,
        "5": text.upper(),
        "4": f"{text}!",
        "9": f"{text} x",
        "7": text.replace("may", "mai"),
        "6": text.replace("may", "mau"),
        "2": "something else altogether, of no interest here",
    }
    items = list(candidates.items())
    shuffled = {items[at][0]: Likeness.of(items[at][1]) for at in order}
    found = matches("new", Likeness.of(text), shuffled)
    assert [match.drawer for match in found] == ["0", "1", "4", "5", "6", "7", "9"]


@given(st.text(min_size=1), st.text())
def test_a_verdict_agrees_with_hash_form_and_similarity(text: str, older: str) -> None:
    new, old = Likeness.of(text), Likeness.of(older)
    found = verdict(text, older)
    if new.content_hash == old.content_hash:
        assert found is Verdict.EXACT
    elif new.fingerprint is not None and new.fingerprint == old.fingerprint:
        assert found is Verdict.NORMALIZED
    else:
        near = similarity(new.form, old.form) >= 0.9 and len(new.form) >= 12
        assert found is (Verdict.NEAR if near else None)


def test_a_likeness_keeps_the_fingerprint_of_its_form() -> None:
    assert Likeness.of("Use port 8080!").fingerprint == fingerprint("use port 8080")


def test_at_most_five_links_are_recorded_of_the_closest() -> None:
    copies = {f"{number}": Likeness.of("use port 8080") for number in range(9)}
    found = matches("new", Likeness.of("use port 8080"), copies)
    assert len(found) == 9
    assert [link.older for link in links("new", found, 0.9, NOW)] == ["0", "1", "2", "3", "4"]


def test_a_link_shows_the_other_drawer_and_its_side() -> None:
    [link] = links("new", matches("new", Likeness.of("use port 8081"), {"old": Likeness.of("use port 8080")}), 0.9, NOW)
    shape = {
        "drawer": "old",
        "side": "older",
        "kind": "near",
        "similarity": 12 / 13,
        "signals": {"same_hash": False, "same_fingerprint": False, "similarity": 12 / 13, "threshold": 0.9},
        "created_at": NOW,
    }
    assert link.as_json("new") == shape
    assert link.as_json("old") == shape | {"drawer": "new", "side": "newer"}


def test_a_listing_shows_the_most_similar_first_then_by_id() -> None:
    recorded = [
        *links("c", matches("c", Likeness.of("use port 8081"), {"b": Likeness.of("use port 8080")}), 0.9, NOW),
        *links("d", matches("d", Likeness.of("use port 8080!"), {"b": Likeness.of("use port 8080")}), 0.9, LATER),
        *links("b", matches("b", Likeness.of("use port 8080"), {"a": Likeness.of("use port 8080")}), 0.9, NOW),
    ]
    random.Random(1).shuffle(recorded)
    assert [(entry["drawer"], entry["side"]) for entry in shown("b", recorded)] == [
        ("a", "older"),
        ("d", "newer"),
        ("c", "newer"),
    ]
