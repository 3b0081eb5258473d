"""The lock of whoever changes the definitions or the data of a palace.

It is a lease in the record of the watermark: its holder renews it, and the lease of a holder that died runs out. Clocks
of different machines need not agree, so whoever waits goes by its own: a lease that has not been renewed for its whole
length while somebody watched it is over.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
import uuid
from types import TracebackType

from palace.clock import now
from palace.domain.clock import add_seconds
from palace.errors import MigrationLocked, StoreFailed
from palace.store.connection import Fragment, Store

logger = logging.getLogger("memcastle.migrate")

LEASE_SECONDS = 20.0
RENEWAL_SECONDS = 5.0
PATIENCE_SECONDS = 60.0
"""How long another process is waited for: longer than a lease, so that a dead one is outlived."""
CLOCK_TOLERANCE_SECONDS = 300.0
"""By how much the clocks of machines that share a palace may differ. A lease that ended before is over at sight."""
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 1.0
LOCK_LOST = "migration_lock_lost"

TAKE = """{
    LET $taken = (UPDATE migration_state:state SET lock_owner = $owner, lock_expires_at = $until, updated_at = $now
        WHERE !lock_owner OR !lock_expires_at OR lock_expires_at <= $long_over
            OR (lock_owner = $dead_owner AND lock_expires_at = $dead_until)
        RETURN VALUE lock_owner);
    RETURN IF array::is_empty($taken) { SELECT lock_owner, lock_expires_at FROM ONLY migration_state:state };
};"""
RENEW = "UPDATE migration_state:state SET lock_expires_at = $until WHERE lock_owner = $owner RETURN VALUE lock_owner;"
RELEASE = """
UPDATE migration_state:state SET lock_owner = NONE, lock_expires_at = NONE, updated_at = $now
    WHERE lock_owner = $owner RETURN NONE;
"""
REQUIRE = f"""
IF (SELECT VALUE lock_owner FROM ONLY migration_state:state) != $lock_owner {{ THROW '{LOCK_LOST}' }};
"""

_Lease = tuple[str, str]
_held_here: set[str] = set()


class MigrationLock:
    """Holds the lock for the length of an `async with` block. Raises MigrationLocked after `patience` seconds without."""

    def __init__(self, store: Store, patience: float) -> None:
        self._store = store
        self._patience = patience
        self._owner = f"pid:{os.getpid()}:{uuid.uuid4()}"
        self._renewing: asyncio.Task[None] | None = None

    def guard(self) -> Fragment:
        """Makes a transaction throw `LOCK_LOST` when another process holds the lock by now."""
        return Fragment(REQUIRE, {"lock_owner": self._owner})

    async def __aenter__(self) -> MigrationLock:
        _held_here.add(self._owner)
        try:
            await self._acquire()
        except BaseException:
            _held_here.discard(self._owner)
            raise
        self._renewing = asyncio.create_task(self._renew(), name="migration lock")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._renewing is not None
        self._renewing.cancel()
        await asyncio.gather(self._renewing, return_exceptions=True)
        try:
            await self._store.query(RELEASE, owner=self._owner, now=now())
        except StoreFailed as failure:
            logger.warning("the migration lock was not given back and runs out", extra={"error": failure.message})
        finally:
            _held_here.discard(self._owner)

    async def _acquire(self) -> None:
        started, pause = time.monotonic(), FIRST_PAUSE_SECONDS
        held, since = await self._take(None), started
        if held is not None and not self._is_dead(held):
            logger.info("another process migrates this palace and is waited for", extra={"holder": held[0]})
        while held is not None:
            moment = time.monotonic()
            dead = self._is_dead(held) or moment - since >= LEASE_SECONDS
            if not dead:
                if moment - started >= self._patience:
                    raise MigrationLocked(f"another process ({held[0].rpartition(':')[0]}) is migrating this palace")
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            seen = await self._take(held if dead else None)
            if seen != held:
                held, since = seen, time.monotonic()

    async def _take(self, dead: _Lease | None) -> _Lease | None:
        """Takes the lock if it is free, or held by the lease `dead`; otherwise gives the lease that holds it."""
        moment = now()
        tolerance = CLOCK_TOLERANCE_SECONDS if self._store.shared else 0
        owner, until = dead or (None, None)
        held = await self._store.first(
            TAKE,
            owner=self._owner,
            until=add_seconds(moment, LEASE_SECONDS),
            now=moment,
            long_over=add_seconds(moment, -tolerance),
            dead_owner=owner,
            dead_until=until,
        )
        return (held["lock_owner"], held["lock_expires_at"]) if held else None

    def _is_dead(self, lease: _Lease) -> bool:
        """A database inside this process is open in no other one, so a lease of another one was left behind."""
        return not self._store.shared and lease[0] not in _held_here

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            try:
                await self._store.query(RENEW, owner=self._owner, until=add_seconds(now(), LEASE_SECONDS))
            except StoreFailed as failure:
                logger.warning("the migration lock could not be renewed", extra={"error": failure.message})
