"""Keeps the leases of a daemon's runs, takes up jobs of dead workers, and gives up its own when it is cut off."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping

from jobs import store
from jobs.runtime.recovery import reap
from jobs.runtime.run import JobRun
from palace.clock import now
from palace.domain.clock import add_seconds
from palace.errors import MemCastleError
from palace.store import current

logger = logging.getLogger("memcastle.jobs")

SHORTEST_BEAT_SECONDS = 0.05


class Leases:
    """The heartbeat of one scheduler. Belongs to the palace's loop."""

    def __init__(self, worker: str, runs: Mapping[str, JobRun], ttl: float) -> None:
        self._worker = worker
        self._runs = runs
        self._ttl = ttl
        self._interval = max(ttl / 3, SHORTEST_BEAT_SECONDS)
        self._renewed = time.monotonic()
        self.failing_since: float | None = None
        """Monotonic time of the first renewal that failed and was not made good since."""

    async def keep(self) -> None:
        """Beats until it is cancelled."""
        while True:
            await asyncio.sleep(self._interval)
            await self.beat()

    async def beat(self) -> None:
        """Renews, hands on what other daemons asked for, and takes up jobs whose lease has run out.

        A lost run is not renewed, so that its job is free for another one when the lease ends, whatever its thread does.
        """
        began = time.monotonic()
        held = {job_id: run for job_id, run in self._runs.items() if not run.lost}
        left = self._renewed + self._ttl - began
        try:
            # After a freeze nothing is left of the lease, and nothing is gained by haste.
            async with asyncio.timeout(min(self._interval, left) if left > 0 else self._interval):
                expires_at = add_seconds(now(), self._ttl)
                # Asked for nothing it still tells whether the store is in reach.
                renewed = await store.renew_leases(current(), self._worker, list(held), expires_at)
        except Exception as error:
            if self.failing_since is None:
                _tell("the leases of running jobs could not be renewed", error)
            self.failing_since = self.failing_since or began
            if time.monotonic() - self._renewed >= self._ttl:
                self._lose(held)
            return
        if self.failing_since is not None:
            logger.info("the leases of running jobs are renewed again")
        self.failing_since, self._renewed = None, began
        self._settle(held, renewed)
        await self._reap()

    async def _reap(self) -> None:
        """What goes wrong here says nothing about the leases of the daemon's own runs."""
        try:
            async with asyncio.timeout(self._interval):
                reaped = await reap({job_id for job_id, run in self._runs.items() if not run.lost})
        except Exception as error:
            _tell("jobs of dead workers could not be put back", error)
            return
        if reaped:
            logger.warning("jobs of dead workers were put back", extra={"jobs": reaped})

    def _settle(self, held: Mapping[str, JobRun], renewed: Mapping[str, store.Renewed]) -> None:
        for job_id, run in held.items():
            lease = renewed.get(job_id)
            if lease is None or lease.attempt != run.job.attempt:
                self._lose({job_id: run})
            elif lease.requests.cancel or lease.requests.pause:
                run.notice()

    def _lose(self, held: Mapping[str, JobRun]) -> None:
        for job_id, run in held.items():
            if self._runs.get(job_id) is run and not run.lost:
                logger.warning("the lease of a job is lost", extra={"job_id": job_id, "worker_id": self._worker})
                run.lose()


def _tell(what: str, error: Exception) -> None:
    """A database that is late or away is tried again with the next beat; anything else is a fault of ours."""
    if isinstance(error, TimeoutError):
        logger.warning(what, extra={"reason": "the database did not answer in time"})
    elif isinstance(error, MemCastleError):
        logger.warning(what, extra={"reason": error.message})
    else:
        logger.error(what, exc_info=error)
