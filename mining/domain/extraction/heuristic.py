"""The extractor that needs no model: names by how they are written, relations by a few phrases between two names.

It reads each sentence once, gives the same answer for the same text always, and prefers to miss what it cannot tell
apart. `normalized` brings its answer into the form that is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from types import MappingProxyType

from mining.domain.extraction.results import ExtractedEntity, ExtractedRelation, Extraction
from mining.domain.extraction.vocabulary import Predicate
from palace.domain.entities import EntityKind
from palace.domain.similarity import composed, is_letter_or_digit

CONFIDENCE = 0.6
"""Of every relation: a phrase between two names is a good hint and no more."""

# One mark at a time: a pattern that swallowed a row of them would look at each of a long row again and again.
_SENTENCE_ENDS = re.compile(r"\n|[.!?](?=\s|\Z)")
_MARKDOWN = "#-*>•‣◦·"
_LEADING_MARKS = re.compile(rf"[\s{re.escape(_MARKDOWN)}]+")
_BREAKS = (",", ";", ":", ")", '"')
_KEPT_AT_THE_ENDS = frozenset("@`_")
_POSSESSIVES = ("'s", "\u2019s")

_OPENERS = """
a an the i we you he she it they this that these those our their his her its my your in on at of for to and but or so
then also if when while after before because however there here see note todo yes no ok now next first finally today
yesterday tomorrow
"""
_SENTENCE_OPENERS = frozenset(_OPENERS.split())
"""Words that are written with a capital at the start of a sentence without being names."""

_PHRASES = MappingProxyType(
    {
        Predicate.WORKS_ON: ("works on", "is working on", "worked on"),
        Predicate.MEMBER_OF: ("is a member of", "is member of", "member of", "belongs to", "joined"),
        Predicate.DEPENDS_ON: ("depends on", "relies on"),
        Predicate.USES: ("uses", "is using"),
        Predicate.OWNS: ("owns", "maintains"),
        Predicate.PART_OF: ("is part of", "part of"),
        Predicate.LOCATED_IN: ("is located in", "lives in", "is based in"),
    }
)
_PREDICATES = {tuple(phrase.split()): predicate for predicate, phrases in _PHRASES.items() for phrase in phrases}
_LONGEST_PHRASE = max(map(len, _PREDICATES))

_SUBJECT_KINDS = {Predicate.WORKS_ON: EntityKind.PERSON, Predicate.MEMBER_OF: EntityKind.PERSON}
_OBJECT_KINDS = {
    Predicate.WORKS_ON: EntityKind.PROJECT,
    Predicate.MEMBER_OF: EntityKind.ORGANIZATION,
    Predicate.LOCATED_IN: EntityKind.PLACE,
}


class _Shape(StrEnum):
    CODE = "code"
    HANDLE = "handle"
    CAPITALISED = "capitalised"
    PLAIN = "plain"


_KINDS = {_Shape.CODE: EntityKind.TOOL, _Shape.HANDLE: EntityKind.PERSON, _Shape.CAPITALISED: EntityKind.OTHER}


@dataclass(frozen=True, slots=True)
class _Token:
    """A word: how it is written, what it says, and whether punctuation parts it from the next."""

    shape: _Shape
    text: str
    breaks: bool


@dataclass(slots=True)
class _Span:
    """A name made of the tokens `[start, end)` of a sentence."""

    name: str
    kind: EntityKind
    start: int
    end: int
    breaks: bool


def extract(text: str) -> Extraction:
    """The names in a text and the relations that it states between neighbours, names of a specific kind first."""
    entities: list[ExtractedEntity] = []
    relations: list[ExtractedRelation] = []
    for sentence in sentences(composed(text)):
        tokens = _tokens(sentence)
        spans = _spans(tokens)
        relations += _relations(tokens, spans)
        entities += (ExtractedEntity(span.name, span.kind) for span in spans)
    entities.sort(key=lambda entity: entity.kind is EntityKind.OTHER)
    return Extraction(tuple(entities), tuple(relations))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, trimmed: a line end closes one, and so does `.`, `!` or `?` before white space or the end."""
    return filter(None, map(str.strip, _SENTENCE_ENDS.split(text)))


def _tokens(sentence: str) -> list[_Token]:
    marks = _LEADING_MARKS.match(sentence)
    words = sentence[marks.end() :].split() if marks else sentence.split()
    tokens = list(map(_token, words))
    if tokens and tokens[0].shape is _Shape.CAPITALISED and tokens[0].text.lower() in _SENTENCE_OPENERS:
        tokens[0] = replace(tokens[0], shape=_Shape.PLAIN)
    return tokens


def _token(word: str) -> _Token:
    breaks = word.endswith(_BREAKS)
    inner = _without_outer(word, _KEPT_AT_THE_ENDS)
    if inner[:1] == "`" == inner[-1:] and len(inner) > 2 and (code := inner.strip("`")):
        return _Token(_Shape.CODE, code, breaks)
    if inner.startswith("@") and len(handle := _without_outer(inner)) > 1:
        return _Token(_Shape.HANDLE, handle, breaks)
    name = inner[:-2] if inner.endswith(_POSSESSIVES) else inner
    name = _without_outer(name)
    if len(name) > 1 and name[0].isupper() and any(map(str.isalpha, name)):
        return _Token(_Shape.CAPITALISED, name, breaks)
    return _Token(_Shape.PLAIN, inner, breaks)


def _without_outer(word: str, kept: frozenset[str] = frozenset()) -> str:
    """The word without the characters at its ends that are no letter or digit and are not among `kept`."""
    start, end = 0, len(word)
    while start < end and not (is_letter_or_digit(word[start]) or word[start] in kept):
        start += 1
    while start < end and not (is_letter_or_digit(word[end - 1]) or word[end - 1] in kept):
        end -= 1
    return word[start:end]


def _spans(tokens: Sequence[_Token]) -> list[_Span]:
    spans: list[_Span] = []
    at = 0
    while at < len(tokens):
        token, start = tokens[at], at
        at += 1
        if token.shape is _Shape.PLAIN:
            continue
        if token.shape is _Shape.CAPITALISED:
            while not tokens[at - 1].breaks and at < len(tokens) and tokens[at].shape is _Shape.CAPITALISED:
                at += 1
        name = " ".join(token.text for token in tokens[start:at])
        spans.append(_Span(name, _KINDS[token.shape], start, at, tokens[at - 1].breaks))
    return spans


def _relations(tokens: Sequence[_Token], spans: Iterable[_Span]) -> Iterator[ExtractedRelation]:
    """The relations between neighbours; what they say of a name that had no kind yet is noted in its span."""
    for left, right in pairwise(spans):
        if left.breaks or not 0 < right.start - left.end <= _LONGEST_PHRASE:
            continue
        predicate = _PREDICATES.get(tuple(token.text.lower() for token in tokens[left.end : right.start]))
        if predicate is None:
            continue
        _learn(left, _SUBJECT_KINDS.get(predicate))
        _learn(right, _OBJECT_KINDS.get(predicate))
        yield ExtractedRelation(left.name, predicate, right.name, CONFIDENCE)


def _learn(span: _Span, kind: EntityKind | None) -> None:
    if kind is not None and span.kind is EntityKind.OTHER:
        span.kind = kind
