"""An outbox with a past: entries that no daemon was told of while it ran."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memcastle_site.schema_files import definitions
from palace.clock import now
from palace.store import open_embedded
from palace.store.changes import Change, announce
from palace.store.migrations import migrate
from tests.support import Daemon

PART = 500


def palace_of(daemon: Daemon) -> Path:
    """Where a daemon of the tests keeps its palace."""
    return daemon.home / "data" / "memcastle" / "default"


def seed(daemon: Daemon, entries: int, *, length: int = 0) -> list[str]:
    """Commits drawer events to the palace of a daemon that is not running; gives the ids they tell of.

    `length` makes the ids, and with them the frames, so many characters longer.
    """
    ids = [f"seeded-{number}-" + "x" * length for number in range(entries)]
    asyncio.run(_commit(palace_of(daemon) / "db", ids))
    return ids


async def _commit(directory: Path, ids: list[str]) -> None:
    palace = await open_embedded(directory, sync="never")
    await migrate(palace, definitions())
    for start in range(0, len(ids), PART):
        await palace.transact(announce(now(), *(Change("drawer", "created", id) for id in ids[start : start + PART])))
    await palace.close()
