"""Texts made to keep the daemon busy: their normal form, key and comparison take time in proportion to their length.

Each is a megabyte long. A rule that looks at what it has seen again would take minutes to hours, so the patience of the
tests is no measure of its speed.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PATIENCE_SECONDS = 120
SCRIPT = """
import sys
from palace.domain.duplicates import Likeness, matches
from palace.domain.entities import entity_key
from palace.domain.similarity import query_words

piece = sys.argv[1].encode().decode("unicode_escape")
text = piece * (1_000_000 // len(piece)) + "x"
new, other = Likeness.of(text), Likeness.of(text + "y")
found = matches("new", new, {"old": other}, 0.0)
print(len(query_words(new.form)), len(found), len(entity_key(text)))
"""


@pytest.mark.parametrize(
    ("piece", "counts"),
    [
        pytest.param("Alpha ", "1 1 999997", id="one word again and again"),
        pytest.param("A", "1 1 1000001", id="one letter"),
        pytest.param(". ", "0 0 1", id="punctuation"),
        pytest.param("\\u0301\\u0316", "0 0 1", id="accents that have to be sorted"),
        pytest.param("a\\u0316\\u0301", "0 1 666667", id="accents on every letter"),
        pytest.param("\\u0940", "1 1 31", id="vowel signs without letters"),
        pytest.param("\\u1100\\u1161\\u11a8", "1 1 333334", id="decomposed Hangul"),
        pytest.param("\\u0130", "1 1 1000001", id="dotted capital I"),
        pytest.param("\\u03a3", "1 1 1000001", id="sigma"),
    ],
)
def test_a_megabyte_is_compared(piece: str, counts: str) -> None:
    command = [sys.executable, "-c", SCRIPT, piece]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    assert done.stdout.strip() == counts, "words to look for, matches, characters of the key"
