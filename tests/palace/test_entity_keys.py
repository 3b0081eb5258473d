"""The key in which spellings of one name meet."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.entities import entity_key, label


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Node.js", "nodejs"),
        ("NodeJS", "nodejs"),
        ("jean_luc picard", "jean luc picard"),
        ("Jean-Luc  Picard", "jean luc picard"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("C", "c"),
        ("O'Brien", "obrien"),
        ("O\u2019Brien", "obrien"),
        (" SurrealDB ", "surrealdb"),
        ("café", "café"),
        (unicodedata.normalize("NFD", "Café"), "café"),
        ("cafe", "cafe"),
        ("北京", "北京"),
        ("İzmir", "izmir"),
        ("R & D", "r d"),
        ("!?", "!?"),
        (" ... ", "..."),
        ("👍", "👍"),
    ],
)
def test_examples(name: str, key: str) -> None:
    assert entity_key(name) == key


def test_languages_that_differ_in_a_sign_have_different_keys() -> None:
    assert len({entity_key(name) for name in ("C++", "C#", "C")}) == 3


@given(st.text())
def test_a_key_is_its_own_key_and_empty_only_for_a_blank_name(name: str) -> None:
    key = entity_key(name)
    assert entity_key(key) == key
    assert bool(key) is bool(name.strip())


def test_no_character_keeps_a_key_from_being_its_own_key() -> None:
    for start in range(0, sys.maxunicode + 1, 256):
        key = entity_key(" ".join(f"a{chr(code)}b {chr(code)}" for code in range(start, start + 256)))
        assert entity_key(key) == key, hex(start)


@pytest.mark.parametrize(("text", "stored"), [("Person", "person"), ("  Lives AT ", "lives at"), ("located_in", "located_in")])
def test_a_label_is_trimmed_and_in_lower_case(text: str, stored: str) -> None:
    assert label(text) == stored


@pytest.mark.parametrize("blank", ["", "  ", "\t\n", "\u00a0"])
def test_a_blank_label_is_refused(blank: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        label(blank)
