"""What a search asks for.

Every door turns its request into one frozen `SearchQuery`: those that speak in texts (query string, commands, tools)
through `query_from_text`, the JSON body through `query_from_body`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from palace.domain.clock import Timestamp, after, canonical, instant, nanoseconds
from palace.errors import InvalidInput

LARGEST_REQUEST = 2**32 - 1
_LIMIT = f"a whole number from 0 to {LARGEST_REQUEST}"


class Ranking(StrEnum):
    """How hits are found and ordered; `auto` is hybrid when there is a query vector and lexical otherwise."""

    AUTO = "auto"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class SourceKind(StrEnum):
    """What kind of text a drawer holds."""

    FILE = "file"
    MANUAL = "manual"
    TRANSCRIPT = "transcript"
    NOTE = "note"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The half-open stretch of time `[start, end)`; what was valid at some moment of it is searched."""

    start: Timestamp
    end: Timestamp

    @classmethod
    def point(cls, moment: Timestamp) -> TimeWindow:
        """The window of one instant, one nanosecond wide."""
        return cls(moment, after(moment))


@dataclass(frozen=True, slots=True)
class Current:
    """What holds now."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """What held at one instant."""

    moment: Timestamp


@dataclass(frozen=True, slots=True)
class Between:
    """What held at some time in `[start, end)`."""

    start: Timestamp
    end: Timestamp


@dataclass(frozen=True, slots=True)
class Everything:
    """What held at any time."""


Temporal = Current | AsOf | Between | Everything
_NOW: Temporal = Current()


def window(temporal: Temporal, now: Timestamp) -> TimeWindow | None:
    """The window that a query searches when it is asked at `now`; None when time does not matter."""
    match temporal:
        case Current():
            return TimeWindow.point(now)
        case AsOf(moment):
            return TimeWindow.point(moment)
        case Between(start, end):
            return TimeWindow(start, end)
        case Everything():
            return None


@dataclass(frozen=True, slots=True)
class Scope:
    """The drawers that may answer: wing and room by name, all of the tags, one kind of source; None is any."""

    wing: str | None = None
    room: str | None = None
    tags: tuple[str, ...] = ()
    source_kind: SourceKind | None = None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search as it was asked. A `limit` of 0 is the default of the operation; larger ones are capped there.

    `temporal` asks what was true when; `learned_before` what the palace knew by then: texts that were stored, and ends
    that were recorded, before that instant. `query_embedding` is the caller's own query vector; its length is judged
    where the space is known.
    """

    text: str
    ranking: Ranking = Ranking.AUTO
    limit: int = 0
    scope: Scope = Scope()
    temporal: Temporal = Current()
    learned_before: Timestamp | None = None
    expand: bool = False
    query_embedding: tuple[float, ...] | None = None


def query_from_text(
    *,
    q: str,
    limit: int | None = None,
    wing: str | None = None,
    room: str | None = None,
    ranking: str | None = None,
    tags: Sequence[str] | str = (),
    source_kind: str | None = None,
    as_of: str | None = None,
    from_: str | None = None,
    until: str | None = None,
    include_historical: bool = False,
    learned_before: str | None = None,
    expand: bool = False,
) -> SearchQuery:
    """The query of a door that speaks in texts. `tags` is a list, or one text with commas between them.

    Raises InvalidInput naming the option that is not accepted.
    """
    if limit is not None and not 0 <= limit <= LARGEST_REQUEST:
        raise InvalidInput("query", f"limit {limit} is not {_LIMIT}")
    listed = tags.split(",") if isinstance(tags, str) else tags
    return SearchQuery(
        text=q,
        ranking=_word("ranking", ranking, Ranking) or Ranking.AUTO,
        limit=limit or 0,
        scope=Scope(
            wing=wing,
            room=room,
            tags=_distinct(tag for text in listed if (tag := text.strip())),
            source_kind=_word("source_kind", source_kind, SourceKind),
        ),
        temporal=_temporal_from_text(as_of, from_, until, include_historical),
        learned_before=None if learned_before is None else _instant("learned_before", learned_before),
        expand=expand,
    )


def query_from_body(body: object) -> SearchQuery:
    """The query of a JSON body, read strictly: types are never coerced, words must be written exactly.

    Unknown fields are ignored, an unknown source kind is `other`. Raises InvalidInput on `body`, with the place in
    the body, or on `temporal` when `from` is not before `until`.
    """
    fields = _object(body, "the body")
    if "text" in fields and "query" in fields:
        raise InvalidInput("body", "text and its alias query are given together")
    filters: Mapping[str, Any] = _read(fields, "filter", _object, {})
    return SearchQuery(
        text=_read(fields, "query" if "query" in fields else "text", _string, ""),
        ranking=_read(fields, "ranking", _ranking, Ranking.AUTO),
        limit=_read(fields, "limit", _limit, 0),
        scope=Scope(
            wing=_read(filters, "wing", _or_null(_string), None, "filter."),
            room=_read(filters, "room", _or_null(_string), None, "filter."),
            tags=_read(filters, "tags", _tags, (), "filter."),
            source_kind=_read(filters, "source_kind", _or_null(_source_kind), None, "filter."),
        ),
        temporal=_read(filters, "temporal", _temporal, _NOW, "filter."),
        learned_before=_read(filters, "learned_before", _or_null(_rfc3339), None, "filter."),
        expand=_read(fields, "expand", _boolean, False),
        query_embedding=_read(fields, "query_embedding", _or_null(_vector), None),
    )


Chosen = TypeVar("Chosen", bound=StrEnum)
Value = TypeVar("Value")


def _word(option: str, text: str | None, words: type[Chosen]) -> Chosen | None:
    if text is None:
        return None
    try:
        return words(text.strip().lower())
    except ValueError:
        raise InvalidInput(option, f"{text!r} is not one of {', '.join(words)}") from None


def _distinct(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags))


def _temporal_from_text(as_of: str | None, from_: str | None, until: str | None, include_historical: bool) -> Temporal:
    forms = {
        "as_of": as_of is not None,
        "from": from_ is not None or until is not None,
        "include_historical": include_historical,
    }
    given = [option for option, present in forms.items() if present]
    if len(given) > 1:
        raise InvalidInput(given[0], "as_of, from with until, and include_historical exclude each other; give one of them")
    if include_historical:
        return Everything()
    if as_of is not None:
        return AsOf(_instant("as_of", as_of))
    if from_ is None and until is None:
        return Current()
    if from_ is None:
        raise InvalidInput("from", "until is given alone; a time window needs from and until")
    if until is None:
        raise InvalidInput("until", "from is given alone; a time window needs from and until")
    return _between("from", _instant("from", from_), _instant("until", until))


def _instant(option: str, text: str) -> Timestamp:
    try:
        return _followed(instant(text))
    except (ValueError, OverflowError) as error:
        raise InvalidInput(option, str(error)) from None


def _followed(moment: Timestamp) -> Timestamp:
    """The same instant. Raises OverflowError when none can be written after it, for its window would have no end."""
    after(moment)
    return moment


def _between(option: str, start: Timestamp, end: Timestamp) -> Between:
    if start >= end:
        raise InvalidInput(option, f"{start} is not before {end}; the window is [from, until)")
    return Between(start, end)


def _read(fields: Mapping[str, Any], name: str, read: Callable[[object, str], Value], default: Value, under: str = "") -> Value:
    return read(fields[name], under + name) if name in fields else default


def _or_null(read: Callable[[object, str], Value]) -> Callable[[object, str], Value | None]:
    return lambda value, path: None if value is None else read(value, path)


def _refused(value: object, path: str, wanted: str) -> InvalidInput:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return InvalidInput("body", f"{path} must be {wanted}, not {names.get(type(value), 'this number')}")


def _object(value: object, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _refused(value, path, "an object")
    return value


def _string(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise _refused(value, path, "a string")
    return value


def _boolean(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise _refused(value, path, "true or false")
    return value


def _limit(value: object, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_REQUEST:
        raise _refused(value, path, _LIMIT)
    return value


def _ranking(value: object, path: str) -> Ranking:
    text = _string(value, path)
    if text not in tuple(Ranking):
        raise InvalidInput("body", f"{path} must be one of {', '.join(Ranking)}, not {text!r}")
    return Ranking(text)


def _source_kind(value: object, path: str) -> SourceKind:
    text = _string(value, path)
    return SourceKind(text) if text in tuple(SourceKind) else SourceKind.OTHER


def _array(value: object, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _refused(value, path, "an array")
    return value


def _tags(value: object, path: str) -> tuple[str, ...]:
    return _distinct(_string(tag, f"{path}[{place}]") for place, tag in enumerate(_array(value, path)))


def _vector(value: object, path: str) -> tuple[float, ...]:
    return tuple(_finite(number, f"{path}[{place}]") for place, number in enumerate(_array(value, path)))


def _finite(value: object, path: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _refused(value, path, "a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidInput("body", f"{path} must be a finite number")
    return number


def _temporal(value: object, path: str) -> Temporal:
    if value == "current":
        return Current()
    if value == "all":
        return Everything()
    if isinstance(value, Mapping) and len(value) == 1:
        if "as_of" in value:
            return AsOf(_rfc3339(value["as_of"], f"{path}.as_of"))
        if "between" in value:
            between = _object(value["between"], f"{path}.between")
            start, end = (_bound(between, name, f"{path}.between") for name in ("from", "until"))
            return _between("temporal", start, end)
    raise InvalidInput(
        "body", f'{path} must be "current", "all", {{"as_of": INSTANT}} or {{"between": {{"from": INSTANT, "until": INSTANT}}}}'
    )


def _bound(between: Mapping[str, Any], name: str, path: str) -> Timestamp:
    if name not in between:
        raise InvalidInput("body", f"{path}.{name} is missing")
    return _rfc3339(between[name], f"{path}.{name}")


def _rfc3339(value: object, path: str) -> Timestamp:
    text = _string(value, path)
    try:
        return _followed(canonical(nanoseconds(text)))
    except (ValueError, OverflowError):
        reason = f"{path} must be an RFC 3339 instant such as 2026-03-01T12:00:00Z, not {text!r}"
        raise InvalidInput("body", reason) from None
