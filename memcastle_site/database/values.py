"""SurrealDB's values as JSON clients see them, the way the engine's own `encoding::json::encode` writes them."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

import cbor2

# CBOR tags of SurrealDB: 6 NONE, 7 table, 8 record, 10 decimal, 12 datetime, 14 duration, 55 file, 56 set, and these.
_RANGE, _INCLUDED, _EXCLUDED = 49, 50, 51
_GEOMETRIES = {
    88: "Point",
    89: "LineString",
    90: "Polygon",
    91: "MultiPoint",
    92: "MultiLineString",
    93: "MultiPolygon",
    94: "GeometryCollection",
}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_BARE_KEY = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
_DIGITS = re.compile(r"[0-9_]+", re.ASCII)
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\0": "\\0", "\b": "\\u{8}"})
_UNITS = (("y", 365 * 86_400), ("w", 7 * 86_400), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))
_FRACTIONS = (("ms", 1_000_000), ("µs", 1000), ("ns", 1))
_DAYS_OF_400_YEARS = 146_097


def decode(value: bytes) -> Any:
    """A value of the engine as something that JSON can write."""
    return plain(cbor2.loads(value))


def plain(value: Any) -> Any:
    """A decoded value as something that JSON can write."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case bytes():
            return list(value)
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case cbor2.CBORTag():
            return _tagged(value)
        case UUID() | Decimal() | datetime.datetime():
            return str(value)
    raise ValueError(f"the engine gave a value of the kind {type(value).__name__}")


def _tagged(value: cbor2.CBORTag) -> Any:
    content = value.value
    match value.tag:
        case 6:
            return None
        case 56:
            return [plain(item) for item in content]
        case tag if tag in _GEOMETRIES:
            return _geometry(value)
    return text(value)


def _geometry(value: cbor2.CBORTag) -> dict[str, Any]:
    kind = _GEOMETRIES[value.tag]
    if kind == "GeometryCollection":
        return {"type": kind, "geometries": [_geometry(part) for part in value.value]}
    return {"type": kind, "coordinates": _coordinates(value)}


def _coordinates(value: Any) -> Any:
    if isinstance(value, cbor2.CBORTag):
        return _coordinates(value.value)
    return [_coordinates(item) for item in value] if isinstance(value, (list, tuple)) else _number(value)


def _number(value: Any) -> float:
    return float(value)


def text(value: cbor2.CBORTag) -> str:
    """A tagged value in SurrealQL's own spelling, without the marks of its type."""
    content = value.value
    match value.tag:
        case 7:
            return str(content)
        case 10 | 9 | 13:
            return str(content)
        case 8:
            table, key = content
            return f"{_name(table)}:{_key(key)}"
        case 12:
            return _datetime(*content)
        case 14:
            return _duration(*content)
        case 49:
            return _range(*content)
        case 55:
            return f"{content[0]}:{content[1]}"
    raise ValueError(f"the engine gave a value with the unknown tag {value.tag}")


def _name(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else _quoted(name, "`")


def _key(key: Any) -> str:
    """The part of a record id behind the colon."""
    if isinstance(key, str):
        bare = _BARE_KEY.fullmatch(key) and not _DIGITS.fullmatch(key)
        return key if bare else _quoted(key, "`")
    if isinstance(key, cbor2.CBORTag) and key.tag == _RANGE:
        return _range(*key.value, bound=_key)
    return _literal(key)


def _quoted(text: str, quote: str) -> str:
    return quote + text.translate(_ESCAPES).replace(quote, "\\" + quote) + quote


def _string(text: str) -> str:
    return _quoted(text, '"' if "'" in text else "'")


def _literal(value: Any) -> str:
    """A value as SurrealQL writes it inside a record id or a range."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case str():
            return _string(value)
        case float():
            return _float(value)
        case bytes():
            return f'b"{value.hex().upper()}"'
        case UUID():
            return f"u'{value}'"
        case list() | tuple():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case Mapping():
            pairs = (f"{_field(str(name))}: {_literal(item)}" for name, item in sorted(value.items()))
            return f"{{ {', '.join(pairs)} }}"
        case cbor2.CBORTag():
            return _tagged_literal(value)
    return str(value)


def _tagged_literal(value: cbor2.CBORTag) -> str:
    match value.tag:
        case 6:
            return "NONE"
        case 10:
            return f"{value.value}dec"
        case 12:
            return f"d'{text(value)}'"
        case 56:
            comma = "," if len(value.value) < 2 else ""
            return "{" + ", ".join(map(_literal, value.value)) + comma + "}"
    return text(value)


def _field(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else _quoted(name, '"')


def _float(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    digits = f"{Decimal(repr(value)):f}"
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + "f"


def _range(begin: Any, end: Any, *, bound: Callable[[Any], str] = _literal) -> str:
    before, after = "", ""
    if isinstance(begin, cbor2.CBORTag):
        before = bound(begin.value) + (">" if begin.tag == _EXCLUDED else "")
    if isinstance(end, cbor2.CBORTag):
        after = ("=" if end.tag == _INCLUDED else "") + bound(end.value)
    return f"{before}..{after}"


def _duration(seconds: int = 0, nanoseconds: int = 0) -> str:
    written = ""
    for units, amount in ((_UNITS, seconds), (_FRACTIONS, nanoseconds)):
        for unit, size in units:
            count, amount = divmod(amount, size)
            written += f"{count}{unit}" if count else ""
    return written or "0ns"


def _datetime(seconds: int = 0, nanoseconds: int = 0) -> str:
    """RFC 3339 with as many groups of three digits as are needed, for years far outside of Python's."""
    days, rest = divmod(seconds, 86_400)
    # The calendar repeats every 400 years, so a day of any year is computed with one that Python knows.
    ages, days = divmod(days, _DAYS_OF_400_YEARS)
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days)
    year = day.year + 400 * ages
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    hours, minutes = divmod(rest // 60, 60)
    fraction = f".{nanoseconds:09d}" if nanoseconds else ""
    while fraction.endswith("000"):
        fraction = fraction[:-3]
    return f"{sign}{abs(year):04d}-{day.month:02d}-{day.day:02d}T{hours:02d}:{minutes:02d}:{rest % 60:02d}{fraction}Z"
