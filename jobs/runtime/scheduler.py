"""Claims jobs for the workers, watches over them, recovers after a crash, drains before a stop."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from collections.abc import Callable, Coroutine
from typing import Any

from jobs import store
from jobs.conf import JobsConfig
from jobs.domain.job import Status
from jobs.runtime import run as runs
from jobs.runtime.driver import Outcome, drive
from jobs.runtime.leases import Leases
from jobs.runtime.queue import EmbeddedConsumer, JobHuey, consumer
from jobs.runtime.recovery import recover_at_start
from jobs.runtime.run import JobRun
from jobs.runtime.settling import settle
from jobs.signals import job_queued
from palace.clock import now
from palace.configuration import current as configured
from palace.domain.clock import Timestamp, add_seconds
from palace.errors import MemCastleError
from palace.signals import changes_read
from palace.store import current, on_loop
from palace.store.changes import Stamped

logger = logging.getLogger("memcastle.jobs")

POLL_SECONDS = 2.0
"""How long a job may wait to be seen when nobody told of it; usually the workers are woken at once."""
WATCH_SECONDS = 1.0
"""How often the workers are looked after."""
JOIN_SECONDS = 1.0
"""How long a stop waits for worker threads that have nothing left to do."""
UNDRIVEN_SECONDS = 10.0
"""How long a claimed job may be without a thread before it counts as lost."""


class Scheduler:
    """The workers of one daemon. All methods belong to the palace's event loop."""

    def __init__(self) -> None:
        self._config = configured(JobsConfig)
        self.worker = f"memcastle-{os.getpid()}-{secrets.token_hex(4)}"
        """Who the leases of this scheduler's jobs belong to."""
        self.runs: dict[str, JobRun] = {}
        """What is run at the moment, by job."""
        self.leases = Leases(self.worker, self.runs, self._config.lease_ttl_secs)
        self.consumer: EmbeddedConsumer | None = None
        self.restarts = 0
        """How often a task of the scheduler's own had died and was started again."""
        self.watched_at: Timestamp | None = None
        """When the workers were last seen at work, or ready for it."""
        self.looked = time.monotonic()
        """Monotonic time of the last look for a job that the database answered."""
        self._idle = asyncio.Event()
        self._idle.set()
        self._wake = asyncio.Event()
        # Whoever claims, or waits for something to claim, holds the turn: one query at a time, whatever is idle.
        self._turn = asyncio.Lock()
        self._draining = False
        self.claim_error: str | None = None
        """Why the last look for a job failed."""
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def config(self) -> JobsConfig:
        return self._config

    async def recover(self) -> int:
        """Settles the jobs that a dead daemon left running; returns how many. To be called before `start`."""
        found = await recover_at_start()
        self._wake.set()
        return found

    async def start(self) -> None:
        """Starts the workers, the heartbeat and the watch over both."""
        # Huey narrates every task; our own lines say the same with the job's id.
        narrator = logging.getLogger("huey")
        if narrator.level == logging.NOTSET:
            narrator.setLevel(logging.WARNING)
        job_queued.connect(self._nudge)
        changes_read.connect(self._heard)
        huey = JobHuey(lambda: on_loop(self._next_run()), self._work)
        self.consumer = consumer(huey, self._config.max_concurrency)
        self.consumer.start()
        install(self)
        self._keep("job leases", self.leases.keep)
        self._keep("job workers", self._watch)
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
        changes_read.disconnect(self._heard)
        if self.consumer is not None:
            self.consumer.stop()
        self._wake.set()
        for run in self.runs.values():
            run.interrupt()
        try:
            async with asyncio.timeout(seconds):
                # A claim under way becomes a run first, and is interrupted as such.
                async with self._turn:
                    pass
                await self._idle.wait()
        except TimeoutError:
            logger.warning("jobs did not stop in time", extra={"jobs": sorted(self.runs)})
        finally:
            for task in self._tasks.values():
                task.cancel()
            if scheduler() is self:
                install(None)
        if self.consumer is not None and not self.runs:
            self.consumer.shutdown_timeout = JOIN_SECONDS
            await asyncio.to_thread(self.consumer.stop, graceful=True)
        return len(self.runs)

    def _leave_behind(self, run: JobRun) -> None:
        """Goes on without a run whose thread does not come back: its place is free, and another thread takes it."""
        if self.consumer is not None and run.thread is not None and not self._draining:
            self.consumer.leave_behind(run.thread)
        self._forget(run)

    def _nudge(self, **_: Any) -> None:
        self._wake.set()

    async def _heard(self, changes: list[Stamped], **_: Any) -> None:
        """A job was queued, perhaps by another daemon."""
        entries = (entry for change in changes for entry in change.entries)
        if any(entry["kind"] == "job" and entry.get("status") == Status.QUEUED for entry in entries):
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
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._wake.wait()
                except TimeoutError:
                    continue
        return None

    @property
    def background_allowed(self) -> bool:
        """Whether another background job may start."""
        return sum(run.job.background for run in self.runs.values()) < self._config.background_limit

    async def _claim(self) -> JobRun | None:
        if self.leases.failing_since is not None:
            # Whoever cannot keep what it has takes nothing more.
            return None
        at = now()
        expires_at = add_seconds(at, self._config.lease_ttl_secs)
        try:
            job = await store.claim(current(), self.worker, at, expires_at, allow_background=self.background_allowed)
        except MemCastleError as error:
            if self.claim_error is None:
                logger.error("no job can be claimed", extra={"error": error.message})
            self.claim_error = error.message
            return None
        self.claim_error = None
        self.looked = time.monotonic()
        if job is None:
            return None
        run = JobRun(job, self.worker, self._config.lease_ttl_secs, self._leave_behind)
        self.runs[job.id] = run
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
            run.finished.set()
            self._forget(run)

    def _forget(self, run: JobRun) -> None:
        runs.ended(run)
        if self.runs.get(run.job.id) is run:
            del self.runs[run.job.id]
        if not self.runs:
            self._idle.set()
        # A place among the background jobs, or an exclusive key, may be free now.
        self._wake.set()

    def _keep(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Runs a task that must never end before the scheduler does."""
        task = asyncio.create_task(work(), name=name)
        self._tasks[name] = task

        def again(done: asyncio.Task[None]) -> None:
            if not self._draining:
                # A cancellation that nobody here asked for comes out of something that the task waited for.
                error = None if done.cancelled() else done.exception()
                logger.error("a task of the scheduler broke and is started again", extra={"task": name}, exc_info=error)
                self.restarts += 1
                asyncio.get_running_loop().call_later(WATCH_SECONDS, self._again, name, work)

        task.add_done_callback(again)

    def _again(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if not self._draining:
            self._keep(name, work)

    async def _watch(self) -> None:
        """Replaces worker threads that died, and gives up runs that no thread works for."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self.consumer is None or self._draining:
                continue
            if dead := self.consumer.replace_dead():
                logger.error("worker threads had died and were replaced", extra={"threads": dead})
            for run in list(self.runs.values()):
                if self._undriven(run):
                    # Its lease runs out, and the job is taken up as after a crash.
                    logger.error("a job has lost its thread", extra={"job_id": run.job.id})
                    run.lose()
                    self._forget(run)
            self.watched_at = now()

    def _undriven(self, run: JobRun) -> bool:
        if run.thread is None:
            return time.monotonic() - run.claimed > UNDRIVEN_SECONDS
        return not run.thread.is_alive()


_scheduler: Scheduler | None = None


def install(started: Scheduler | None) -> None:
    """Makes it the scheduler of this process (None: there is none)."""
    global _scheduler
    _scheduler = started


def scheduler() -> Scheduler | None:
    """The scheduler of this process, when there is one."""
    return _scheduler
