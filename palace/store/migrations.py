"""The version of the data: the watermark, the lock, and the runner that brings a palace up to date.

Definitions are `palace.store.schema`'s business; this module moves stored records. Steps are ordered, immutable once
released and only ever go forward. A step that fails leaves the watermark at the last one that succeeded.

Daemons that share a palace start at any moment and in any version. Whoever changes definitions or data holds the lock,
and says so again in each transaction that does. What a newer version left, an older one neither removes nor overwrites.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from palace.clock import now
from palace.errors import MemCastleError, MigrationFailed, MigrationLocked
from palace.store.connection import Fragment, Store, TransactionRefused, no_time_limit
from palace.store.migration_lock import LOCK_LOST, PATIENCE_SECONDS, MigrationLock
from palace.store.schema import Definition, definitions_to_sync, sync_schema

logger = logging.getLogger("memcastle.migrate")

STATE_TABLE = "migration_state"


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
READ_STATE = "SELECT version, release FROM migration_state:state;"


@dataclass(frozen=True, slots=True)
class _State:
    version: int
    release: str | None


async def _state(store: Store) -> _State | None:
    tables = (await store.first(TABLES))["tables"]
    rows = await store.first(READ_STATE) if STATE_TABLE in tables else []
    return _State(int(rows[0]["version"]), rows[0].get("release")) if rows else None


async def migration_status(store: Store, steps: Sequence[Step] = STEPS) -> MigrationStatus:
    """Reads the watermark; changes nothing, takes no lock. A palace without one is at version 0."""
    state = await _state(store)
    version = state.version if state else 0
    pending = tuple(step.name for step in steps if step.version > version)
    return MigrationStatus(version, _latest(steps), pending)


def _latest(steps: Sequence[Step]) -> int:
    return steps[-1].version if steps else 0


ENSURE_STATE = "INSERT IGNORE INTO migration_state { id: 'state', version: 0, updated_at: $now } RETURN NONE;"
RECORD_VERSION = "UPDATE migration_state:state SET version = $version, updated_at = $recorded_at RETURN NONE;"
RECORD_RELEASE = "UPDATE migration_state:state SET release = $release, updated_at = $recorded_at RETURN NONE;"


async def migrate(
    store: Store,
    definitions: list[Definition],
    steps: Sequence[Step] = STEPS,
    *,
    release: str | None = None,
    remove: bool | None = None,
    patience: float = PATIENCE_SECONDS,
) -> MigrationReport:
    """Brings definitions and data up to date; the same run serves a daemon's start and the `migrate` command.

    `release` is the version of this program. `remove` says whether definitions that are in no file any more go; on a
    palace that is shared they stay unless it is said, since a daemon of the version before may work with them.
    Whoever finds another process at it waits up to `patience` seconds. Raises SchemaSyncFailed, MigrationLocked, and
    MigrationFailed, in which case the palace must not be served.
    """
    remove = not store.shared if remove is None else remove
    with no_time_limit():
        state = await _state(store)
        _require_known(state, steps)
        if state is None:
            await _begin(store, definitions)
        async with MigrationLock(store, patience) as lock:
            # Read again: a newer version may have come first.
            state = await _state(store) or _State(0, None)
            _require_known(state, steps)
            await _require_no_newer_definitions(store, state, definitions, release)
            try:
                applied = await _bring_up_to_date(store, lock, state, definitions, steps, remove=remove)
                if release is not None and (state.release is None or _numbers(state.release) < _numbers(release)):
                    await _record(store, lock, RECORD_RELEASE, release=release)
            except TransactionRefused as refusal:
                if refusal.reason != LOCK_LOST:
                    raise
                raise MigrationLocked("another process took over the migration of this palace") from None
    return MigrationReport(state.version, _latest(steps) if applied else state.version, applied)


async def _bring_up_to_date(
    store: Store,
    lock: MigrationLock,
    state: _State,
    definitions: list[Definition],
    steps: Sequence[Step],
    *,
    remove: bool,
) -> tuple[str, ...]:
    await sync_schema(store, definitions, remove=remove, guard=lock.guard())
    applied = tuple([await _run(store, lock, step) for step in steps if step.version > state.version])
    if applied:
        await sync_schema(store, definitions, remove=remove, guard=lock.guard())
    return applied


def _require_known(state: _State | None, steps: Sequence[Step]) -> None:
    if state is not None and state.version > _latest(steps):
        raise MigrationFailed(
            f"the palace's data is at version {state.version}, this MemCastle knows {_latest(steps)}",
            help="A newer MemCastle wrote this palace; start that one. The palace is unchanged.",
        )


async def _require_no_newer_definitions(
    store: Store, state: _State, definitions: list[Definition], release: str | None
) -> None:
    """An older program may serve what a newer one left only if both have the same definitions."""
    if release is None or state.release is None or _numbers(state.release) <= _numbers(release):
        return
    if (await definitions_to_sync(store, definitions)).any:
        raise MigrationFailed(
            f"MemCastle {state.release} brought the palace's definitions up to date, and this is {release}",
            help=f"Start MemCastle {state.release} or a newer one. The palace is unchanged.",
        )


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


async def _begin(store: Store, definitions: list[Definition]) -> None:
    """Makes the table that holds watermark and lock, which everything else waits for."""
    own = [definition for definition in definitions if STATE_TABLE in (definition.name, definition.table)]
    await store.query("\n".join(definition.if_missing for definition in own))
    await store.query(ENSURE_STATE, now=now())


async def _run(store: Store, lock: MigrationLock, step: Step) -> str:
    logger.info("migration step", extra={"version": step.version, "step": step.name})
    try:
        await step.run(store)
        await _record(store, lock, RECORD_VERSION, version=step.version)
    except Exception as error:
        if isinstance(error, TransactionRefused) and error.reason == LOCK_LOST:
            raise
        cause = error.message if isinstance(error, MemCastleError) else f"{type(error).__name__}: {error}"
        raise MigrationFailed(f"step {step.version} ({step.name}) failed: {cause}") from error
    return step.name


async def _record(store: Store, lock: MigrationLock, statement: str, **values: Any) -> None:
    await store.transact(lock.guard(), Fragment(statement, values | {"recorded_at": now()}))
