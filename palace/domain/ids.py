"""Identifiers: random UUIDs for what is new, derived ones for what a replay must find again."""

from __future__ import annotations

import hashlib
import re
import uuid

NIL = "00000000-0000-0000-0000-000000000000"
_SHAPES = re.compile(
    r"(?:urn:uuid:)?(?P<hyphenated>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
    r"|(?P<simple>[0-9a-f]{32})"
    r"|\{(?P<braced>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\}",
    re.IGNORECASE | re.ASCII,
)


def new_id() -> str:
    """A random UUID (version 4) in hyphenated text form."""
    return str(uuid.uuid4())


def parse_id(text: str) -> str | None:
    """The hyphenated lower-case form of a UUID in any common spelling, or None when the text is no UUID."""
    match = _SHAPES.fullmatch(text)
    if match is None:
        return None
    return str(uuid.UUID(next(found for found in match.groups() if found)))


def derived_id(seed: str, name: str) -> str:
    """The UUID that `seed` (a UUID) and `name` always give: a replay lands on the record it already wrote.

    SHA-256 over the 16 seed bytes and the UTF-8 name, first 16 bytes, version nibble 5. This is stored state: a
    changed derivation would lose every record it named.
    """
    digest = bytearray(hashlib.sha256(uuid.UUID(seed).bytes + name.encode("utf-8", "surrogatepass")).digest()[:16])
    digest[6] = (digest[6] & 0x0F) | 0x50
    digest[8] = (digest[8] & 0x3F) | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))
