"""The texts of the clients: a number is a text, with a word that no other text has."""

from __future__ import annotations

import hashlib
import random

LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")


def word_of(text: int, salt: str = "text") -> str:
    """A word that only this text holds. Consonants only, so that no stem is cut from it."""
    return hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()[:14].translate(LETTERS)


WORDS = tuple(word_of(number, "common")[: 3 + number % 7] for number in range(40))
"""Words that many texts hold."""


def text_of(number: int, salt: str = "text") -> str:
    """The text of that number, a few lines long."""
    chance = random.Random(f"{salt}:{number}")
    lines = (" ".join(chance.choices(WORDS, k=chance.randint(3, 9))) for _ in range(chance.randint(1, 4)))
    return f"{word_of(number, salt)} is number {number}\n" + "\n".join(lines)


def file_text(chance: random.Random, longest: int = 4000) -> str:
    """The content of a file: mostly short, sometimes many chunks long.

    It does not end with white space: a last chunk of nothing else would not be filed.
    """
    size = chance.choice((100, 400, 900, longest))
    lines = [f"revision {chance.randrange(10**12)}"]
    while sum(map(len, lines)) < size:
        lines.append(" ".join(chance.choices(WORDS, k=chance.randint(3, 12))))
        if chance.random() < 0.2:
            lines.append("")
    return "\n".join(lines).rstrip()
