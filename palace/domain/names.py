"""Rules of names and paths. They apply where something is created, never where it is looked up."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from palace.domain.ids import parse_id


def problem_with_name(name: str, *, allow_slash: bool) -> str | None:
    """Why `name` cannot be given to something new, or None when it can.

    Wing and room names hold no slash; drawer names may, with no empty, `.` or `..` segment.
    """
    if not name:
        return "it is empty"
    if name != name.strip():
        return "it starts or ends with white space"
    if any(unicodedata.category(character) == "Cc" for character in name):
        return "it holds a control character"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "it is not valid Unicode"
    if parse_id(name) is not None:
        return "it looks like a UUID, which is reserved for ids"
    if not allow_slash:
        return "it holds a '/'" if "/" in name else None
    if any(segment in ("", ".", "..") for segment in name.split("/")):
        return "it has an empty, '.' or '..' segment"
    return None


def acceptable_wing_name(name: str) -> str:
    """A wing name made from any directory name: what cannot stay is dropped, a UUID gets the prefix `project-`."""
    kept = "".join(c for c in name if c != "/" and unicodedata.category(c) not in ("Cc", "Cs")).strip()
    if parse_id(kept) is not None:
        return f"project-{kept}"
    return kept or "unnamed"


@dataclass(frozen=True, slots=True)
class PalacePath:
    """`wing`, `wing/room` or `wing/room/drawer`; each part a name or an id, the drawer part may hold slashes."""

    wing: str
    room: str | None = None
    drawer: str | None = None


def parse_path(text: str) -> PalacePath:
    """Splits a path into at most three parts. Raises ValueError when a part is empty."""
    parts = text.split("/", 2)
    if not all(parts) or (len(parts) == 3 and parts[2].endswith("/")):
        raise ValueError(f"{text!r} has an empty part; write WING, WING/ROOM or WING/ROOM/DRAWER")
    return PalacePath(*parts)
