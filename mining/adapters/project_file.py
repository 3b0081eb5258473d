"""The wing that a project declares for itself in `.config/memcastle.toml`."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Mapping

from mining.adapters.files import read_regular
from palace.domain.names import problem_with_name

PROJECT_FILE = os.path.join(".config", "memcastle.toml")

_MAX_BYTES = 65_536
_KEYS: Mapping[str, frozenset[str]] = {
    "project": frozenset({"name"}),
    "memcastle": frozenset({"wing", "room"}),
    "mining": frozenset(),
}
_log = logging.getLogger("memcastle.mining")


def declared_wing(directory: str) -> str | None:
    """The wing declared by the nearest project file at or above `directory`, or None.

    The search ends with the directory that holds `.git` and below the home directory, whose own file belongs to no
    project. A file that cannot be used is logged and declares nothing.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    while directory != home:
        path = os.path.join(directory, PROJECT_FILE)
        if os.path.lexists(path):
            return _wing_in(path)
        above = os.path.dirname(directory)
        if above == directory or os.path.lexists(os.path.join(directory, ".git")):
            return None
        directory = above
    return None


def _wing_in(path: str) -> str | None:
    try:
        content, _ = read_regular(path, _MAX_BYTES, follow=True)
        return _parsed_wing(content)
    except (OSError, ValueError) as error:
        # The error's own text may quote the file.
        problem = error.args[0] if type(error) is ValueError else type(error).__name__
        _log.warning("the project file was ignored", extra={"problem": problem})
        return None


def _parsed_wing(content: bytes) -> str | None:
    if len(content) > _MAX_BYTES:
        raise ValueError(f"it is larger than {_MAX_BYTES} bytes")
    tables = tomllib.loads(content.decode())
    for title, table in tables.items():
        if title not in _KEYS or not isinstance(table, dict) or not table.keys() <= _KEYS[title]:
            raise ValueError("it holds a key that is not known")
    for title, key in (("memcastle", "wing"), ("project", "name")):
        name = tables.get(title, {}).get(key, "")
        if not isinstance(name, str):
            raise ValueError(f"{title}.{key} is no string")
        if name := name.strip():
            if problem_with_name(name, allow_slash=False) is not None:
                raise ValueError(f"{title}.{key} cannot name a wing")
            return name
    return None
