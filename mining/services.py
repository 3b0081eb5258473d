"""The one seam of mining: asking for a run, preparing it, listing what was mined."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs import services as jobs
from jobs.domain.job import Job
from mining import store
from mining.adapters.registry import adapter, adapters
from mining.domain.contract import SourceAdapter, SourceRef, source_id
from mining.sweep import Prepared
from palace.clock import now
from palace.domain.modes import Caller
from palace.errors import FileFailed, InvalidInput
from palace.modes import require_read, require_write
from palace.services.hierarchy import create_wing, require_name
from palace.store import current
from palace.store import hierarchy as hierarchy_table

DIRECTORY = "directory"


@dataclass(frozen=True, slots=True)
class MineRequest:
    """A wish to mine: a directory by `path`, or a `source` with what it needs as `locator`."""

    path: str | None = None
    source: str | None = None
    locator: str | None = None
    wing: str | None = None
    full: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


async def submit_mine(caller: Caller, request: MineRequest) -> Job:
    """Queues a mine job.

    Raises InvalidInput on `path`, `source` or `options` for a request that no run could fulfil, PathInvalid for an
    unusable name of a new wing. Whether the directory exists is the job's to find out. Runs of one source never run
    side by side: a second one waits and then sees what the first has filed.
    """
    require_write(caller, "mine")
    source, locator = _place(request)
    chosen = adapter(source)
    _require_declared(chosen, request.options)
    if request.wing is not None and await hierarchy_table.find_wing(current(), request.wing, None) is None:
        require_name(request.wing, "wing")
    place = await asyncio.to_thread(_identity, chosen, locator, request.options)
    shape: dict[str, Any] = {"path": locator} if source == DIRECTORY else {"source": source, "locator": locator}
    shape |= {"wing": request.wing, "full": request.full, "options": dict(request.options)}
    return await jobs.submit("mine", shape, caller, exclusive=f"mine:{place}")


def _place(request: MineRequest) -> tuple[str, str | None]:
    if request.path is not None and request.source is not None:
        raise InvalidInput("path", "give either a path or a source, not both")
    if request.path is None and request.source is None:
        raise InvalidInput("path", "name a directory by path, or a source")
    source = request.source if request.source is not None else DIRECTORY
    locator = request.path if request.path is not None else request.locator
    if source == DIRECTORY:
        if not locator:
            raise InvalidInput("path", "the source 'directory' needs the path of a directory")
        if not os.path.isabs(locator):
            raise InvalidInput("path", f"{locator!r} is relative; the daemon needs an absolute path")
        if "\0" in locator:
            raise InvalidInput("path", "it holds a NUL character")
    return source, locator


def _require_declared(chosen: SourceAdapter, options: Mapping[str, str]) -> None:
    declared = [option.name for option in chosen.options]
    unknown = sorted(options.keys() - set(declared))
    if unknown:
        accepted = ", ".join(declared) or "none"
        raise InvalidInput("options", f"{', '.join(unknown)} is no option of {chosen.name}; accepted are {accepted}")


def _identity(chosen: SourceAdapter, locator: str | None, options: Mapping[str, str]) -> str:
    """What tells sources apart before the run: its id, or, while the place cannot be looked at, its spelling."""
    try:
        return source_id(chosen.identify(locator, options))
    except FileFailed:
        return f"{chosen.name}:{os.path.normpath(locator or '')}"


async def prepare_run(caller: Caller, chosen: SourceAdapter, ref: SourceRef, wing: str | None) -> Prepared:
    """The target wing and the source's row, created when missing, and what was filed of the source before.

    A wing that is refused leaves no row behind. Raises PathInvalid.
    """
    target, _ = await create_wing(caller, wing if wing is not None else chosen.default_wing(ref))
    source = await store.ensure_source(current(), source_id(ref), ref, now())
    rooms = await hierarchy_table.list_rooms(current(), target)
    known, gaps = await store.known_documents(current(), source.id)
    return Prepared(source, target, known, frozenset(room.id for room in rooms), gaps)


async def list_sources(caller: Caller) -> dict[str, Any]:
    """The sources that exist, and every place that was mined with one of them."""
    require_read(caller, "source_list")
    return {
        "adapters": [_described(known) for known in adapters()],
        "sources": [source.as_json() for source in await store.list_sources(current())],
    }


def _described(known: SourceAdapter) -> dict[str, Any]:
    options = [
        {"name": option.name, "description": option.description, "type": option.type}
        | ({"breadth": option.breadth} if option.breadth else {})
        for option in known.options
    ]
    return {
        "name": known.name,
        "description": known.description,
        "capabilities": {
            "incremental": known.capabilities.incremental,
            "retains_raw": known.capabilities.retains_raw,
            "needs_credentials": known.capabilities.needs_credentials,
        },
        "origin": "builtin",
        "state": "enabled",
        "options": options,
    }
