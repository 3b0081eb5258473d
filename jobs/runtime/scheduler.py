"""Claims jobs for the workers, keeps their leases, recovers after a crash, drains before a stop."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from typing import Any

from jobs import store
from jobs.conf import JobsConfig
from jobs.domain.job import recovered
from jobs.runtime import run as runs
from jobs.runtime.driver import Outcome, drive
from jobs.runtime.queue import EmbeddedConsumer, JobHuey, consumer
from jobs.runtime.run import JobRun
from jobs.runtime.settling import settle
from jobs.signals import job_queued
from palace.clock import now
from palace.configuration import current as configured
from palace.domain.clock import add_seconds
from palace.errors import MemCastleError
from palace.store import current, on_loop

logger = logging.getLogger("memcastle.jobs")

POLL_SECONDS = 2.0
"""How long a job of another daemon may wait to be seen; those of this process wake the workers at once."""
SHORTEST_BEAT_SECONDS = 0.05
JOIN_SECONDS = 1.0
"""How long a stop waits for worker threads that have nothing left to do."""


class Scheduler:
    """The workers of one daemon. All methods belong to the palace's event loop."""

    def __init__(self) -> None:
        self._config = configured(JobsConfig)
        self.worker = f"memcastle-{os.getpid()}-{secrets.token_hex(4)}"
        """Who the leases of this scheduler's jobs belong to."""
        self._runs: dict[str, JobRun] = {}
        self._idle = asyncio.Event()
        self._idle.set()
        self._wake = asyncio.Event()
        # Whoever claims, or waits for something to claim, holds the turn: one query at a time, whatever is idle.
        self._turn = asyncio.Lock()
        self._draining = False
        self._blind = False
        self._consumer: EmbeddedConsumer | None = None
        self._heartbeat: asyncio.Task[None] | None = None

    async def recover(self) -> int:
        """Settles the jobs that a dead daemon left running; returns how many. To be called before `start`.

        The palace admits one daemon, so whatever is recorded as running now is a dead one's.
        """
        found = 0
        for job in await store.running(current()):
            after = recovered(job, now())
            try:
                await store.transition(
                    current(), job, after, now(), same_lease=True, reason=f"the daemon of {job.lease_owner} ended without it"
                )
            except store.JobChanged:
                continue
            found += 1
            about = {"job_id": job.id, "job_type": job.kind, "status": after.status.value}
            logger.info("job recovered", extra={**about, "recovery_attempts": after.recovery_attempts})
        self._wake.set()
        return found

    async def start(self) -> None:
        """Starts the workers and the heartbeat."""
        # Huey narrates every task; our own lines say the same with the job's id.
        narrator = logging.getLogger("huey")
        if narrator.level == logging.NOTSET:
            narrator.setLevel(logging.WARNING)
        job_queued.connect(self._nudge)
        huey = JobHuey(lambda: on_loop(self._next_run()), self._work)
        self._consumer = consumer(huey, self._config.max_concurrency)
        self._consumer.start()
        self._heartbeat = asyncio.create_task(self._beat(), name="job leases")
        logger.info(
            "scheduler configured",
            extra={
                "worker_id": self.worker,
                "max_concurrency": self._config.max_concurrency,
                "background_concurrency": self._config.background_limit,
                "lease_ttl_secs": self._config.lease_ttl_secs,
            },
        )

    async def drain(self, seconds: float) -> int:
        """Stops claiming, asks every run to stop at its next unit and waits so many seconds for them.

        Returns how many are still going then. They stay recorded as running and are recovered at the next start.
        """
        self._draining = True
        job_queued.disconnect(self._nudge)
        if self._consumer is not None:
            self._consumer.stop()
        self._wake.set()
        for run in self._runs.values():
            run.interrupt()
        try:
            async with asyncio.timeout(seconds):
                # A claim under way becomes a run first, and is interrupted as such.
                async with self._turn:
                    pass
                await self._idle.wait()
        except TimeoutError:
            logger.warning("jobs did not stop in time", extra={"jobs": sorted(self._runs)})
        finally:
            if self._heartbeat is not None:
                self._heartbeat.cancel()
        if self._consumer is not None and not self._runs:
            self._consumer.shutdown_timeout = JOIN_SECONDS
            await asyncio.to_thread(self._consumer.stop, graceful=True)
        return len(self._runs)

    def _nudge(self, **_: Any) -> None:
        self._wake.set()

    async def _next_run(self) -> JobRun | None:
        """Waits for a job and claims it; None when the daemon stops."""
        async with self._turn:
            while not self._draining:
                self._wake.clear()
                run = await self._claim()
                if run is not None:
                    return run
                try:
                    await asyncio.wait_for(self._wake.wait(), POLL_SECONDS)
                except TimeoutError:
                    continue
        return None

    async def _claim(self) -> JobRun | None:
        background = sum(run.job.background for run in self._runs.values())
        at = now()
        try:
            job = await store.claim(
                current(),
                self.worker,
                at,
                add_seconds(at, self._config.lease_ttl_secs),
                allow_background=background < self._config.background_limit,
            )
        except MemCastleError as error:
            if not self._blind:
                logger.error("no job can be claimed", extra={"error": error.message})
            self._blind = True
            return None
        self._blind = False
        if job is None:
            return None
        run = JobRun(job, self.worker, self._config.lease_ttl_secs)
        self._runs[job.id] = run
        self._idle.clear()
        runs.started(run)
        if self._draining:
            run.interrupt()
        logger.info(
            "job claimed by worker",
            extra={"job_id": job.id, "job_type": job.kind, "attempt": job.attempt, "worker_id": self.worker},
        )
        return run

    def _work(self, run: JobRun) -> None:
        """One run from its start to its end, in a worker's thread."""
        logger.info("job started", extra={"job_id": run.job.id, "job_type": run.job.kind})
        started = time.monotonic()
        outcome = drive(run)
        elapsed_ms = round((time.monotonic() - started) * 1000)
        try:
            on_loop(self._ended(run, outcome, elapsed_ms))
        except Exception as error:
            logger.error("the end of a run could not be recorded", extra={"job_id": run.job.id}, exc_info=error)

    async def _ended(self, run: JobRun, outcome: Outcome, elapsed_ms: int) -> None:
        try:
            await settle(run, outcome, elapsed_ms)
        finally:
            runs.ended(run)
            del self._runs[run.job.id]
            if not self._runs:
                self._idle.set()
            # A place among the background jobs, or an exclusive key, may be free now.
            self._wake.set()

    async def _beat(self) -> None:
        """Renews the leases of all runs. A run whose lease is gone is dropped; so are all when it cannot be told."""
        ttl = self._config.lease_ttl_secs
        interval = max(ttl / 3, SHORTEST_BEAT_SECONDS)
        renewed = time.monotonic()
        while True:
            await asyncio.sleep(interval)
            held = set(self._runs)
            try:
                if self._consumer is not None and not self._draining:
                    self._consumer.check_worker_health()
                async with asyncio.timeout(interval):
                    alive = await store.renew_leases(current(), self.worker, add_seconds(now(), ttl)) if held else held
            except Exception as error:
                logger.error("the leases of running jobs could not be renewed", exc_info=error)
                lost = held if time.monotonic() - renewed >= ttl else set()
            else:
                renewed = time.monotonic()
                lost = held - alive
            for job_id in lost & self._runs.keys():
                self._runs[job_id].lose()
