"""The words of a text: one tokenizer for what is stored and for what is asked.

A stored text becomes tokens separated by spaces. A query becomes the terms that must all be among those tokens
(strict), or of which any may be (relaxed). Both sides come from the same forms of each word:

- the word in lower case, without accents, and as its English stem: `Naïves` -> `naïves naives naiv`;
- for an identifier, its chunks (split at underscores and digits) and the parts of each chunk (split where the case
  changes): `OAuth2_url` -> `oauth2_url oauth o auth 2 url`;
- for scripts written without spaces, characters and pairs of neighbours: `图数据` -> `图 数 据 图数 数据`; Korean,
  which does write spaces, also whole words.
"""

from __future__ import annotations

import operator
import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

import regex
import Stemmer

LONGEST_WORD = 64
"""A longer word counts as its first 64 characters; scripts without spaces are never cut."""

MOST_DIGIT_RUNS = 3
"""A chunk with more runs of digits than this is a hash or a key, which nobody asks for by its pieces."""

REMEMBERED_WORDS = 200_000
REMEMBERED_PIECES = 20_000

_WORD = r"[\p{L}\p{M}\p{N}_]"
_SPACELESS_SCRIPTS = (
    *(rf"\p{{Script_Extensions={name}}}" for name in ("Han", "Hiragana", "Katakana")),
    *(rf"\p{{Script={name}}}" for name in ("Thai", "Lao", "Khmer", "Myanmar", "Bopomofo", "Yi", "Javanese", "Balinese")),
    *(rf"\p{{Script={name}}}" for name in ("Tai_Tham", "Tai_Le", "New_Tai_Lue", "Tai_Viet", "Tangut", "Nushu")),
)
_HANGUL = rf"[\p{{Script=Hangul}}&&{_WORD}]"
_SPACELESS = rf"[[{''.join(_SPACELESS_SCRIPTS)}]&&{_WORD}]"

_ASCII_WORDS = re.compile(r"\w+", re.ASCII)
_WORDS = regex.compile(rf"{_WORD}+")
_RUNS = regex.compile(
    rf"(?V1)(?P<hangul>(?:{_HANGUL}\p{{M}}*)+)|(?P<spaceless>(?:{_SPACELESS}\p{{M}}*)+)"
    rf"|(?P<spaced>[{_WORD}--{_HANGUL}--{_SPACELESS}]+)"
)
_CHARACTERS = regex.compile(r"\P{M}\p{M}*|\p{M}+")
_MARK = regex.compile(r"\p{M}")
_SOMETHING = regex.compile(r"[\p{L}\p{N}]")

# The plural of an acronym (URLs, IDs) is one part; otherwise the last capital belongs to the word that follows it.
_ASCII_CHUNKS = re.compile(r"[A-Za-z]+|[0-9]+")
_ASCII_PARTS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CHUNKS = regex.compile(r"[\p{L}\p{M}]+|(?:\p{N}\p{M}*)+")
_PARTS = regex.compile(
    r"(?:\p{Lu}\p{M}*+){2,}s(?![\p{Ll}\p{M}])|(?:\p{Lu}\p{M}*+)+(?!\p{Ll})"
    r"|(?:\p{Lu}\p{M}*+)?[\p{Ll}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
)

# Characters that show nothing, or only how to draw their neighbours: joiners, soft hyphen, byte order mark, variation
# selectors (of emoji, ideographs and Mongolian), the keycap of emoji, the Arabic stretch, invisible vowels and fillers.
# Left in, they would part words or pass for words.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u0640\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200d\u2060\u20e3\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef]"
)
# Compatibility forms would glue these to the word before them: Java™ is not a word javatm.
_MARKS_OF_TRADE = re.compile("[\u2120\u2122]")
# Letters with a stroke or a ligature have no accent to take off, yet people type them without.
_PLAIN_LETTERS = str.maketrans({
    "æ": "ae", "ð": "d", "ø": "o", "þ": "th", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "œ": "oe", "ŧ": "t",
})  # fmt: skip
# What an apostrophe attaches to an English word is not asked for: Alice's must find Alice.
_CLITIC = re.compile(r"(?<=\w)['\u2019](?:s|t|d|m|ll|re|ve)\b", re.IGNORECASE)


def indexed_words(text: str) -> str:
    """The tokens of a text in its order, repeated as they occur, separated by single spaces; the full-text column."""
    return " ".join(filter(None, map(_tokens_of.__getitem__, _words(text))))


def strict_terms(query: str) -> tuple[str, ...]:
    """The distinct tokens that a text must all hold to match the query, in the query's order.

    A word asks for its stem, an identifier for the stems of its parts, a run of a script without spaces for its pairs
    of neighbours. Empty when the query holds no word.
    """
    return tuple(dict.fromkeys(_asked(query, split_case=True)))


def strict_alternatives(query: str) -> tuple[tuple[str, ...], ...]:
    """Sets of terms, any one of which makes a strict match when a text holds all of it; `strict_terms` comes first.

    A second set is there only when case parts a word: `GitHub` asks for `git` and `hub`, but also for `github`, since
    nothing in a text that writes it small says where to part it. Empty when the query holds no word.
    """
    whole = tuple(dict.fromkeys(_asked(query, split_case=False)))
    return tuple(terms for terms in dict.fromkeys((strict_terms(query), whole)) if terms)


def relaxed_terms(query: str) -> tuple[str, ...]:
    """Every distinct token of the query, in its order; any of them makes a relaxed match."""
    return tuple(dict.fromkeys(indexed_words(query).split()))


def word_count(query: str) -> int:
    """How many words the query holds: words between white space, and each pair of neighbours of a script without spaces.

    White space that parts nothing but symbols counts nothing.
    """
    return sum(map(_words_within, query.split()))


def _words_within(text: str) -> int:
    spaceless, spaced = 0, False
    for word in _words(text):
        for kind, run in _runs(word):
            if kind == "spaced":
                spaced = spaced or bool(_tokens_of[run])
            else:
                spaceless += len(_pairs(_characters(run)))
    return spaceless + spaced


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORDS.findall(text)
    visible = _INVISIBLE.sub("", _MARKS_OF_TRADE.sub(" ", text))
    found: list[str] = _WORDS.findall(unicodedata.normalize("NFKC", visible))
    return found


def _runs(word: str) -> Iterator[tuple[str, str]]:
    """The word cut where scripts with and without spaces meet, each run with its kind; runs of marks alone are dropped."""
    if word.isascii():
        yield "spaced", word
        return
    for match in _RUNS.finditer(word):
        if _SOMETHING.search(match[0]):
            yield match.lastgroup, match[0]


def _asked(query: str, *, split_case: bool) -> Iterator[str]:
    for word in _words(_CLITIC.sub(" ", query)):
        for kind, run in _runs(word):
            if kind != "spaced":
                yield from _pairs(_characters(run))
                continue
            for chunk in _chunks(run[:LONGEST_WORD]):
                for piece in (split_case and _parts(chunk)) or (chunk,):
                    yield _forms(piece)[-1]


def _expansion(word: str) -> str:
    """Every token of one word, separated by spaces."""
    tokens: list[str] = []
    for kind, run in _runs(word):
        if kind == "spaced":
            tokens += _spaced_tokens(run[:LONGEST_WORD])
            continue
        characters = _characters(run)
        tokens += characters
        if len(characters) > 1:
            tokens += _pairs(characters)
        if kind == "hangul" and len(characters) > 2:
            tokens.append(run[:LONGEST_WORD])
    return " ".join(tokens)


class _Expansions(dict[str, str]):
    """Remembers the tokens of each word: a text repeats its words, and a lookup costs a hundredth of the work.

    Threads may share it: the worst that two of them can do is the same work twice.
    """

    def __missing__(self, word: str) -> str:
        expansion = _expansion(word)
        if len(word) <= LONGEST_WORD:
            if len(self) >= REMEMBERED_WORDS:
                self.clear()
            self[word] = expansion
        return expansion


_tokens_of = _Expansions()


def _spaced_tokens(word: str) -> Iterable[str]:
    chunks = _chunks(word)
    tokens = list(_forms(word)[:2]) if chunks else []
    for chunk in chunks:
        tokens += _forms(chunk)
        for part in _parts(chunk):
            tokens += _forms(part)
    return dict.fromkeys(tokens)


def _characters(run: str) -> list[str]:
    """The characters of a run, each with the marks that belong to it."""
    characters: list[str] = _CHARACTERS.findall(run) if _MARK.search(run) else list(run)
    return characters


def _pairs(characters: list[str]) -> list[str]:
    """Each character with its neighbour; a lone character stands for itself."""
    return list(map(operator.add, characters, characters[1:])) or characters


def _chunks(word: str) -> list[str]:
    """The letters and the numbers of a word; what reads like a hash stays whole. Underscores are in none of them."""
    chunks: list[str] = []
    for segment in word.split("_"):
        pieces = _found(_ASCII_CHUNKS, _CHUNKS, segment)
        if len(pieces) > MOST_DIGIT_RUNS and sum(piece[0].isnumeric() for piece in pieces) > MOST_DIGIT_RUNS:
            pieces = [segment]
        chunks += pieces
    return chunks


def _parts(chunk: str) -> list[str]:
    """The words that a chunk writes together by changing case: HTTPServer is HTTP and Server. Numbers have none."""
    if chunk.islower() or any(map(str.isnumeric, chunk)):
        return []
    return _found(_ASCII_PARTS, _PARTS, chunk)


def _found(in_ascii: re.Pattern[str], in_any: regex.Pattern[str], text: str) -> list[str]:
    if text.isascii():
        return in_ascii.findall(text)
    return [piece for piece in in_any.findall(text) if _SOMETHING.search(piece)]


@lru_cache(maxsize=REMEMBERED_PIECES)
def _forms(piece: str) -> tuple[str, str, str]:
    """A piece in lower case, the same without accents, and its stem: what a strict match asks for comes last."""
    if piece.isascii():
        lower = plain = piece.lower()
    else:
        lower = unicodedata.normalize("NFKC", piece.casefold())
        plain = _without_accents(lower)
    return lower, plain, _stemmer.stem(plain) if plain.isascii() and plain.isalpha() else plain


def _without_accents(word: str) -> str:
    """The word without accents, points and other marks that its script can do without.

    Those have a combining class that says where they sit; vowel signs and viramas, which a script cannot do without,
    have none or one below ten, and the marks of Thai and its kin lie between.
    """
    decomposed = unicodedata.normalize("NFD", word.translate(_PLAIN_LETTERS))
    kept = (c for c in decomposed if not (10 <= (place := unicodedata.combining(c)) <= 36 or place >= 200))
    return unicodedata.normalize("NFKC", "".join(kept))


class _Stemmer(threading.local):
    """A stemmer for each thread, since one may not be shared."""

    def __init__(self) -> None:
        self._english = Stemmer.Stemmer("english", 0)

    def stem(self, word: str) -> str:
        stem: str = self._english.stemWord(word)
        return stem


_stemmer = _Stemmer()
