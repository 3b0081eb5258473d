"""The sources by name."""

from __future__ import annotations

from mining.adapters.directory import DirectoryAdapter
from mining.domain.contract import SourceAdapter
from palace.errors import InvalidInput

_ADAPTERS: tuple[SourceAdapter, ...] = (DirectoryAdapter(),)


def adapters() -> tuple[SourceAdapter, ...]:
    """All sources, the built-in ones first."""
    return _ADAPTERS


def adapter(name: str) -> SourceAdapter:
    """The source of that name. Raises InvalidInput listing the known ones."""
    for known in _ADAPTERS:
        if known.name == name:
            return known
    raise InvalidInput("source", f"{name!r} is no known source; known are {', '.join(known.name for known in _ADAPTERS)}")
