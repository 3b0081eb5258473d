"""Checks of names, paths and ids that need no daemon."""

from __future__ import annotations

from jobs.errors import JobIdInvalid
from palace.domain.ids import parse_id
from palace.domain.names import PalacePath, parse_path, problem_with_name
from palace.errors import PathInvalid

SHAPES = ("WING", "WING/ROOM", "WING/ROOM/DRAWER")


def existing(text: str, parts: int) -> PalacePath:
    """The path of something that is looked up, with exactly `parts` parts; ids and odd old names are allowed.

    Raises PathInvalid.
    """
    return _path(text, parts, parts)


def to_create(text: str, parts: int, *, least: int | None = None) -> PalacePath:
    """The path of something that is created, with `least` to `parts` parts (`least` is `parts` unless given).

    The last part must be an acceptable new name; what stands before it may also be an id. Raises PathInvalid.
    """
    path = _path(text, least or parts, parts)
    names = [part for part in (path.wing, path.room, path.drawer) if part is not None]
    for place, name in enumerate(names):
        is_last = place == len(names) - 1
        if not (is_last and place == parts - 1) and parse_id(name) is not None:
            continue
        problem = problem_with_name(name, allow_slash=place == 2)
        if problem:
            raise PathInvalid(f"the {('wing', 'room', 'drawer')[place]} name {name!r} cannot be used: {problem}")
    return path


def job_id(text: str) -> str:
    """The canonical form of a job id. Raises JobIdInvalid."""
    found = parse_id(text)
    if found is None:
        raise JobIdInvalid(f"{text!r} is not a job id")
    return found


def _path(text: str, least: int, most: int) -> PalacePath:
    if most == 1:
        if not text:
            raise PathInvalid("the wing is empty")
        return PalacePath(text)
    try:
        path = parse_path(text)
    except ValueError as error:
        raise PathInvalid(str(error)) from None
    given = 1 + (path.room is not None) + (path.drawer is not None)
    if not least <= given <= most:
        raise PathInvalid(f"{text!r} is not of the form {' or '.join(SHAPES[least - 1 : most])}")
    return path
