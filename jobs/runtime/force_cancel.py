"""Stops a run that does not reach a boundary: its thread is broken off, or left behind."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from jobs import kinds, store
from jobs.domain.job import Cancel, Job, Status, apply
from jobs.errors import JobOrphaned, TransitionInvalid
from jobs.runtime.run import JobRun, run_of
from palace.clock import now
from palace.store import current

logger = logging.getLogger("memcastle.jobs")

COME_BACK_SECONDS = 2.0
"""How long the thread of a run that was broken off may take to come back before it is left behind."""
PATIENCE_SECONDS = 0.5
"""How long the cancellation lets other writers go first: the answer is due within five seconds."""

# The loop itself keeps only weak references to its tasks.
_going: set[asyncio.Task[Job]] = set()


async def force_cancel(job: Job) -> Job:
    """Cancels a running job of this daemon without waiting for its next boundary; gives the cancelled job.

    The request is stored first, so a crash on the way does not lose it. Then the run may write nothing any more, and the
    job is cancelled with what it had committed. Once begun it goes to its end, whether or not the caller waits. Raises
    TransitionInvalid for a job that is not running or whose kind cannot be forced, JobOrphaned when this daemon does not
    run it, `store.JobChanged` when it ended meanwhile.
    """
    run = _forcible(job)
    # A client that hangs up takes its request back, and must not leave a run behind that is neither one thing nor the other.
    going = asyncio.create_task(_forced(job, run), name=f"force-cancel {job.id}")
    _going.add(going)
    going.add_done_callback(_going.discard)
    return await asyncio.shield(going)


async def _forced(job: Job, run: JobRun) -> Job:
    asked = await store.request_stop(current(), job, Cancel(), now(), patience=PATIENCE_SECONDS)
    run.abandon()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(run.finished.wait(), COME_BACK_SECONDS)
    hangs = not run.finished.is_set()
    if hangs:
        run.leave_behind()
    reason = "force-cancelled; " + ("its thread hangs and was left behind" if hangs else "its thread was stopped")
    cancelled = await _cancelled(asked, run, reason)
    logger.warning("job force-cancelled", extra={"job_id": job.id, "job_type": job.kind, "thread_hangs": hangs})
    return cancelled


async def _cancelled(asked: Job, run: JobRun, reason: str) -> Job:
    while True:
        at = now()
        after = apply(asked, Cancel(), at)
        try:
            await store.transition(current(), asked, after, at, reason=reason, patience=PATIENCE_SECONDS)
        except store.JobChanged:
            found = await store.read(current(), asked.id)
            if found is not None and run.owns(found):
                # A pause was asked for in between; that can happen only once.
                asked = found
                continue
            # It came to a boundary by itself, and found the request there.
            if found is None or found.status is not Status.CANCELLED:
                raise
            return found
        return after


def _forcible(job: Job) -> JobRun:
    kind = kinds.find(job.kind)
    if job.status is Status.RUNNING and (kind is None or not kind.can_be_forced):
        raise TransitionInvalid(
            f"job {job.id} is a {job.kind} job, which is not force-cancelled",
            help=f"It stops at its next boundary: cancel it with `python manage.py job cancel {job.id}`.",
        )
    if job.status is not Status.RUNNING:
        raise TransitionInvalid(
            f"job {job.id} is {job.status.value}, which does not allow to force-cancel it",
            help="Only a running job is force-cancelled; cancel a waiting one with `python manage.py job cancel ID`.",
        )
    run = run_of(job)
    if run is None:
        raise JobOrphaned(
            f"job {job.id} is run by {job.lease_owner}, which is no worker of this daemon",
            help="Force-cancel it on the daemon that runs it, or cancel it with `python manage.py job cancel ID`.",
        )
    return run
