"""Stores how a run ended."""

from __future__ import annotations

import asyncio
import logging

from jobs import store
from jobs.domain.job import Complete, Fail, Job, Status, apply, stopped
from jobs.runtime.driver import Dropped, Ending, Outcome, Stopped
from jobs.runtime.run import JobRun
from palace.clock import now
from palace.errors import MemCastleError, StoreFailed
from palace.store import current

logger = logging.getLogger("memcastle.jobs")

STORE_PAUSES_SECONDS = (0.1, 0.4, 1.0, 2.0)
"""Waits between tries to store an outcome while the database fails."""


async def settle(run: JobRun, outcome: Outcome, elapsed_ms: int) -> None:
    """Writes the outcome of a run to its job and logs it.

    A run whose lease is gone writes nothing. An outcome that the database will not take leaves the job recorded as
    running: its lease expires, and recovery gives it to another run.
    """
    about = {"job_id": run.job.id, "job_type": run.job.kind, "elapsed_ms": elapsed_ms}
    try:
        job = None if isinstance(outcome, Dropped) else await _patiently_stored(run, outcome)
    except MemCastleError as error:
        logger.error("the outcome of a job could not be stored", extra={**about, "error": error.message})
        return
    if job is None:
        logger.warning("job dropped, its lease is lost", extra=about)
    elif job.status is Status.FAILED:
        logger.info("job failed", extra={**about, "error": job.error, "attempt": job.attempt})
    else:
        logger.info("job put back" if job.status is Status.QUEUED else f"job {job.status.value}", extra=about)


async def _patiently_stored(run: JobRun, outcome: Ending) -> Job | None:
    for seconds in STORE_PAUSES_SECONDS:
        try:
            return await _stored(run, outcome)
        except StoreFailed as error:
            logger.warning("an outcome waits for the database", extra={"job_id": run.job.id, "error": error.message})
            await asyncio.sleep(seconds)
    return await _stored(run, outcome)


async def _stored(run: JobRun, outcome: Ending) -> Job | None:
    """The job as it was left, or None when the run does not own it any more."""
    while True:
        job = await store.read(current(), run.job.id)
        if job is None or not run.owns(job):
            return None
        at = now()
        match outcome:
            case Stopped(report):
                after = stopped(job, at, report)
            case Fail(error):
                after = apply(job, Fail(_storable(error)), at)
            case Complete():
                after = apply(job, outcome, at)
        try:
            await store.transition(current(), job, after, at, reason=_reason(outcome, after))
        except store.JobChanged:
            # A pause or cancel came in between; it can do so only once each.
            continue
        return after


def _reason(outcome: Ending, job: Job) -> str | None:
    return outcome.reason if isinstance(outcome, Stopped) and job.status is Status.QUEUED else None


def _storable(message: str) -> str:
    """File names that are no Unicode text may stand in a message, and must not keep the failure from being stored."""
    return message.encode("utf-8", "replace").decode()
