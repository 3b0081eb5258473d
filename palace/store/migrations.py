"""The version of the data: the watermark, the lock, and the runner that brings a palace up to date.

Definitions are `palace.store.schema`'s business; this module moves stored records. Steps are ordered, immutable once
released and only ever go forward. A step that fails leaves the watermark at the last one that succeeded.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from palace.clock import now
from palace.domain.clock import add_seconds
from palace.errors import MemCastleError, MigrationFailed, MigrationLocked
from palace.store.connection import Store, TransactionRefused
from palace.store.schema import Definition, sync_schema

logger = logging.getLogger("memcastle.migrate")

LOCK_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Step:
    """One change of stored data. `run` must be safe to repeat: it may have been cut off half way."""

    version: int
    name: str
    run: Callable[[Store], Awaitable[None]]


STEPS: tuple[Step, ...] = ()
"""Released steps, versions 1, 2, 3 and so on without gaps. A palace made by this version needs none."""


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """Where a palace stands beside what this version expects."""

    current_version: int
    latest_version: int
    pending: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "current_version": self.current_version,
            "latest_version": self.latest_version,
            "pending": list(self.pending),
        }


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What a run did."""

    from_version: int
    to_version: int
    applied: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"from_version": self.from_version, "to_version": self.to_version, "applied": list(self.applied)}


TABLES = "INFO FOR DB;"
READ_VERSION = "SELECT VALUE version FROM migration_state:state;"


async def migration_status(store: Store, steps: Sequence[Step] = STEPS) -> MigrationStatus:
    """Reads the watermark; changes nothing, takes no lock. A palace without one is at version 0."""
    tables = (await store.first(TABLES))["tables"]
    versions = await store.first(READ_VERSION) if "migration_state" in tables else []
    version = int(versions[0]) if versions else 0
    pending = tuple(step.name for step in steps if step.version > version)
    return MigrationStatus(version, steps[-1].version if steps else 0, pending)


ENSURE_STATE = "INSERT IGNORE INTO migration_state { id: 'state', version: 0, updated_at: $now } RETURN NONE;"
LOCK = """{
    LET $taken = (UPDATE migration_state:state SET lock_owner = $owner, lock_expires_at = $until, updated_at = $now
        WHERE !lock_owner OR !lock_expires_at OR lock_expires_at <= $now RETURN VALUE lock_owner);
    IF array::len($taken) = 0 { THROW 'locked' };
};"""
RECORD_VERSION = """{
    LET $held = (UPDATE migration_state:state SET version = $version, updated_at = $now
        WHERE lock_owner = $owner RETURN VALUE version);
    IF array::len($held) = 0 { THROW 'locked' };
};"""
UNLOCK = """
UPDATE migration_state:state SET lock_owner = NONE, lock_expires_at = NONE, updated_at = $now
    WHERE lock_owner = $owner RETURN NONE;
"""


async def migrate(store: Store, definitions: list[Definition], steps: Sequence[Step] = STEPS) -> MigrationReport:
    """Brings definitions and data up to date; the same run serves a daemon's start and the `migrate` command.

    Raises SchemaSyncFailed, MigrationLocked when another process is at it, and MigrationFailed, in which case the
    palace must not be served.
    """
    await sync_schema(store, definitions)
    await store.query(ENSURE_STATE, now=now())
    owner = f"pid:{os.getpid()}:{uuid.uuid4()}"
    await _lock(store, owner)
    try:
        status = await migration_status(store, steps)
        if status.current_version > status.latest_version:
            raise MigrationFailed(
                f"the palace's data is at version {status.current_version}, this MemCastle knows {status.latest_version}",
                help="A newer MemCastle wrote this palace; start that one. The palace is unchanged.",
            )
        applied = [await _run(store, owner, step) for step in steps if step.version > status.current_version]
        if applied:
            await sync_schema(store, definitions)
    finally:
        await store.query(UNLOCK, owner=owner, now=now())
    reached = steps[-1].version if applied else status.current_version
    return MigrationReport(status.current_version, reached, tuple(applied))


async def _lock(store: Store, owner: str) -> None:
    moment = now()
    try:
        await store.query(LOCK, owner=owner, now=moment, until=add_seconds(moment, LOCK_SECONDS))
    except TransactionRefused:
        raise MigrationLocked("another process is migrating this palace") from None


async def _run(store: Store, owner: str, step: Step) -> str:
    logger.info("migration step", extra={"version": step.version, "step": step.name})
    try:
        await step.run(store)
        await store.query(RECORD_VERSION, version=step.version, owner=owner, now=now())
    except Exception as error:
        cause = error.message if isinstance(error, MemCastleError) else f"{type(error).__name__}: {error}"
        raise MigrationFailed(f"step {step.version} ({step.name}) failed: {cause}") from error
    return step.name
