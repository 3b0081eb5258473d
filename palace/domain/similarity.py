"""How alike two texts are: their normal form, its fingerprint, and a number from 0 to 1.

Case, punctuation and white space do not count; letters, digits and accents do. `Use port 8080!` and `use   port 8080`
have one normal form, `café` and `cafe` have two.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable

import regex
from rapidfuzz.distance import OSA

EDIT_DISTANCE_UP_TO = 2_000
"""Characters of the longer normal form up to which texts are compared by edit distance; beyond, by trigrams."""

MOST_QUERY_WORDS = 48
SHORTEST_QUERY_WORD = 3

_BLOCK = 1_000

_ASCII_REST = re.compile(r"[^a-z0-9]+")
_REST = regex.compile(r"[^\p{Alphabetic}\p{N}]+")
_LETTER_OR_DIGIT = regex.compile(r"[\p{Alphabetic}\p{N}]")
_MANY_MARKS = regex.compile(r"(\p{M}{30})\p{M}++")


def is_letter_or_digit(character: str) -> bool:
    """Whether Unicode calls one character alphabetic or a number; the vowel signs of Indic scripts are letters."""
    return character.isalnum() or (not character.isascii() and _LETTER_OR_DIGIT.match(character) is not None)


def composed(text: str) -> str:
    """The text with a letter and its accent as one character wherever Unicode has one for both (NFC).

    No language puts more than a few marks on a letter, but sorting a million of them would take minutes; as Unicode's
    stream-safe form does, 30 in a row are taken and the rest of them is dropped.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MANY_MARKS.sub(r"\1", text))


def lowered(text: str) -> str:
    """The text composed and in lower case.

    The capital `İ` becomes a plain `i`: Unicode gives it a dot of its own, which would part the word.
    """
    return composed(text).replace("İ", "i").lower()


def normal_form(text: str) -> str:
    """Letters and digits in lower case, one space for every run of anything else, none at the ends.

    Empty when the text has neither letter nor digit. Applied again it changes nothing. Stored state, through
    `fingerprint`: a changed rule would make every text look new.
    """
    lower = lowered(text)
    pattern = _ASCII_REST if lower.isascii() else _REST
    form: str = pattern.sub(" ", lower)
    return form.strip(" ")


def fingerprint(form: str) -> str | None:
    """SHA-256 (hex) of a normal form; None for the empty one, for nothing is like it."""
    return hashlib.sha256(form.encode()).hexdigest() if form else None


def similarity(form: str, other: str) -> float:
    """How alike two normal forms are, from 0 to 1; the order of the two does not matter.

    Equal forms 1, two empty ones 0. Up to 2,000 characters the share of characters that need no edit, where an edit
    inserts, deletes or replaces a character or swaps two neighbours; beyond, how many character trigrams they share
    of all that they have.
    """
    return similarities(form, (other,))[0]


def similarities(form: str, others: Iterable[str], least: float = 0.0) -> list[float]:
    """The similarity of one normal form to each of the others; 0 where it is below `least`, which is found out sooner."""
    trigrams: set[str] | None = None
    found = []
    for other in others:
        if form == other:
            found.append(1.0 if form else 0.0)
        elif max(len(form), len(other)) <= EDIT_DISTANCE_UP_TO:
            found.append(_unedited(form, other, least))
        else:
            if trigrams is None:
                trigrams = _trigrams(form)
            found.append(_shared(trigrams, other, least))
    return [alike if alike >= least else 0.0 for alike in found]


def edits(text: str, other: str, most: int) -> int:
    """How many edits lead from one text to the other; `most` + 1 when they are more than `most`."""
    return OSA.distance(text, other, score_cutoff=most)


def _unedited(form: str, other: str, least: float) -> float:
    longer = max(len(form), len(other))
    most = math.floor((1 - least) * longer) + 1
    # One division of whole numbers, so that 93 of 100 is the same number as the 0.93 of a threshold; 1 - 7 / 100 is not.
    return max(longer - edits(form, other, most), 0) / longer


def _trigrams(form: str) -> set[str]:
    return set(map("".join, zip(form, form[1:], form[2:], strict=False)))


def _shared(trigrams: set[str], other: str, least: float) -> float:
    """The Jaccard index of some trigrams and those of another form.

    The other's are made block by block: once too many of them are not shared, the rest cannot make up for it.
    """
    both: set[str] = set()
    unshared: set[str] = set()
    for start in range(0, len(other), _BLOCK):
        block = _trigrams(other[start : start + _BLOCK + 2])
        both |= block & trigrams
        unshared |= block - trigrams
        if len(trigrams) < least * (len(trigrams) + len(unshared)) - 1:
            return 0.0
    return len(both) / (len(trigrams) + len(unshared)) if both else 0.0


def query_words(form: str) -> list[str]:
    """The words by which texts like a normal form are looked for: at most 48 distinct ones of 3 characters or more.

    The longest come first, words of one length in alphabetical order.
    """
    words = {word for word in form.split(" ") if len(word) >= SHORTEST_QUERY_WORD}
    return sorted(words, key=lambda word: (-len(word), word))[:MOST_QUERY_WORDS]
