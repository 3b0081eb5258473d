"""The normal form of a text: letters and digits in lower case, one space for anything else."""

from __future__ import annotations

import hashlib
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palace.domain.similarity import fingerprint, is_letter_or_digit, normal_form

TEXTS = st.text() | st.text(alphabet="aAbBéÉİıßΣς\u0301\u0307\u0345\u0940\u094d -_.!\n'图１Ⅷ")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        pytest.param("Use port 8080!", "use port 8080", id="case and punctuation"),
        pytest.param("  use\tport\r\n\n8080 ", "use port 8080", id="white space"),
        pytest.param("use_port-8080", "use port 8080", id="underscore and hyphen"),
        pytest.param("don't", "don t", id="apostrophe"),
        pytest.param("", "", id="empty"),
        pytest.param("?! -- ...", "", id="nothing that counts"),
        pytest.param("Café", "café", id="accents are kept"),
        pytest.param(unicodedata.normalize("NFD", "Café"), "café", id="an accent written as a character of its own"),
        pytest.param("İstanbul", "istanbul", id="dotted capital I"),
        pytest.param("ΟΔΟΣ", "οδος", id="final sigma"),
        pytest.param("Straße", "straße", id="sharp s"),
        pytest.param("我们决定，使用图数据库。", "我们决定 使用图数据库", id="Chinese"),
        pytest.param("की कीमत", "की कीमत", id="Devanagari vowel signs are letters"),
        pytest.param("½ of Ⅷ", "½ of ⅷ", id="numbers that are no digits"),
        pytest.param("a\ud800b", "a b", id="half of a surrogate pair"),
        pytest.param("👍 yes", "yes", id="emoji"),
    ],
)
def test_examples(text: str, form: str) -> None:
    assert normal_form(text) == form


@given(TEXTS)
def test_it_changes_nothing_when_applied_again(text: str) -> None:
    assert normal_form(normal_form(text)) == normal_form(text)


def test_no_character_changes_when_it_is_applied_again() -> None:
    for start in range(0, sys.maxunicode + 1, 256):
        form = normal_form(" ".join(f"a{chr(code)}b {chr(code)}" for code in range(start, start + 256)))
        assert normal_form(form) == form, hex(start)


@given(TEXTS)
def test_it_holds_letters_and_digits_and_single_spaces_between_them(text: str) -> None:
    words = normal_form(text).split(" ")
    assert words == [""] or all(word and all(map(is_letter_or_digit, word)) for word in words)


@given(TEXTS, st.sampled_from([" ", "  ", "!", "\n", " - "]))
def test_what_stands_around_a_text_does_not_count(text: str, rest: str) -> None:
    assert normal_form(f"{rest}{text}{rest}") == normal_form(text)


def test_ascii_text_has_the_same_form_beside_other_text() -> None:
    text = "".join(map(chr, range(128)))
    assert normal_form(f"{text} é") == f"{normal_form(text)} é"


def test_the_fingerprint_is_the_hash_of_the_form() -> None:
    assert fingerprint("use port 8080") == hashlib.sha256(b"use port 8080").hexdigest()
    assert fingerprint("café") == hashlib.sha256("café".encode()).hexdigest()


def test_an_empty_form_has_no_fingerprint() -> None:
    assert fingerprint(normal_form("!!!")) is None
