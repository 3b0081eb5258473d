"""What the hazard tests share: a look into the palace of a daemon that is not running."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from palace import store
from palace.store import Store, open_embedded
from tests.support import Daemon


@asynccontextmanager
async def opened(daemon: Daemon) -> AsyncIterator[Store]:
    """The palace of a stopped daemon, open in this process."""
    palace = await open_embedded(palace_directory(daemon) / "db")
    store.install(palace)
    try:
        yield palace
    finally:
        store.install(None)
        await palace.close()


def palace_directory(daemon: Daemon) -> Path:
    """Where the daemon keeps its palace."""
    (database,) = daemon.home.rglob("db")
    return database.parent
