"""The one seam of jobs: submitting, reading, controlling."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from jobs import kinds, store
from jobs.domain.job import Cancel, Event, Job, Pause, Priority, Resume, Retry, Status, apply
from jobs.errors import JobContended, JobIdInvalid, JobNotFound, JobOrphaned
from jobs.runtime.run import run_of
from jobs.signals import job_queued
from palace.clock import now
from palace.domain.ids import new_id, parse_id
from palace.domain.limits import effective_limit
from palace.domain.modes import Caller
from palace.errors import InvalidInput
from palace.modes import require_read
from palace.store import current

logger = logging.getLogger("memcastle.jobs")

LISTING_LIMIT = 50
CONTROL_TRIES = 5
"""How often a control request starts again because the job changed meanwhile."""
CONTROL_PAUSE_SECONDS = 0.02


async def submit(
    type: str,
    params: Mapping[str, Any],
    caller: Caller,
    *,
    priority: Priority | None = None,
    exclusive: str | None = None,
) -> Job:
    """Puts a job into the queue and wakes the workers.

    The mode gate and the checks of the parameters belong to the kind's own service. `exclusive` names what at most
    one running job may work on. Raises ValueError for a kind that is not registered.
    """
    kind = kinds.find(type)
    if kind is None:
        raise ValueError(f"no job kind {type!r} is registered")
    job = Job(
        id=new_id(),
        kind=type,
        params=params,
        priority=kind.priority if priority is None else priority,
        created_at=now(),
        requested_by=caller.requested_by,
        background=kind.background,
        writes_palace=kind.writes_palace(params),
        exclusive=exclusive,
    )
    await store.insert(current(), job)
    logger.info(
        "job queued",
        extra={"job_id": job.id, "job_type": job.kind, "priority": int(job.priority), "requested_by": job.requested_by},
    )
    job_queued.send_robust(sender=None, job=job)
    return job


async def submit_demo(caller: Caller, steps: int) -> Job:
    """Queues a demo job. Needs no memory mode: it touches no memory."""
    return await submit("demo", {"steps": steps}, caller)


async def submit_audit(caller: Caller, wing: str | None = None) -> Job:
    """Queues an audit. Needs no memory mode: its report holds ids and counts only."""
    return await submit("audit", {"wing": wing}, caller)


async def list_jobs(
    caller: Caller, *, status: str | None = None, kind: str | None = None, limit: int | None = None
) -> list[Job]:
    """Jobs, newest first. With neither `kind` nor `limit` all of them, else a page (default 50, at most 200).

    An unknown kind gives an empty page, a blank one filters nothing. Raises InvalidInput for an unknown status.
    """
    wanted = None if status is None else _status(status)
    require_read(caller, "job_list")
    page = None if kind is None and limit is None else effective_limit(limit, LISTING_LIMIT)
    filtered = kind if kind is not None and kind.strip() else None
    return await store.list_jobs(current(), status=wanted, kind=filtered, limit=page)


def _status(text: str) -> Status:
    try:
        return Status(text)
    except ValueError:
        accepted = ", ".join(status.value for status in Status)
        raise InvalidInput("status", f"{text!r} is no job status; accepted are {accepted}") from None


async def get_job(caller: Caller, job_id: str) -> Job:
    """One job. Raises JobIdInvalid, JobNotFound."""
    identity = _identity(job_id)
    require_read(caller, "job_get")
    return await _existing(identity)


async def counts() -> dict[Status, int]:
    """How many jobs have each status."""
    return await store.counts(current())


async def pause(job_id: str) -> Job:
    """Asks a running job to stop at its next boundary, and stores the request.

    Raises JobIdInvalid, JobNotFound, TransitionInvalid, JobOrphaned, JobContended.
    """
    return await _control(job_id, Pause())


async def resume(job_id: str) -> Job:
    """Puts a paused job back into the queue. Raises as `pause` does."""
    return await _control(job_id, Resume())


async def cancel(job_id: str) -> Job:
    """Gives a waiting or paused job up; asks a running one to stop, and stores the request. Raises as `pause` does."""
    return await _control(job_id, Cancel())


async def retry(job_id: str) -> Job:
    """Puts a failed job back into the queue; it continues from its checkpoint. Raises as `pause` does."""
    return await _control(job_id, Retry())


async def _control(job_id: str, event: Event) -> Job:
    """Carries an event out on the job as it is at that moment; starts again when it changed meanwhile."""
    identity = _identity(job_id)
    logger.info("job control requested", extra={"job_id": identity, "request": type(event).__name__.lower()})
    orphan: Job | None = None
    for _ in range(CONTROL_TRIES):
        job = await _existing(identity)
        after = apply(job, event, now())
        orphan = job if job.status is Status.RUNNING and run_of(job) is None else None
        if orphan is None:
            try:
                return await _carried_out(job, after, event)
            except store.JobChanged:
                pass
        # A job that was claimed, or ended, this very moment is on its way into, or out of, the list of runs.
        await asyncio.sleep(CONTROL_PAUSE_SECONDS)
    if orphan is not None:
        raise JobOrphaned(f"job {identity} is recorded as running on {orphan.lease_owner}, which is no worker of this daemon")
    raise JobContended(f"job {identity} kept changing")


async def _carried_out(job: Job, after: Job, event: Event) -> Job:
    if job.status is Status.RUNNING:
        # Stored before the run hears of it, so that the request outlives a crash.
        asked = await store.request_stop(current(), job, event, now())
        if (run := run_of(job)) is not None:
            run.notice()
        return asked
    await store.transition(current(), job, after, now())
    if after.status is Status.QUEUED:
        job_queued.send_robust(sender=None, job=after)
    return after


async def _existing(job_id: str) -> Job:
    job = await store.read(current(), job_id)
    if job is None:
        raise JobNotFound(f"there is no job {job_id}")
    return job


def _identity(text: str) -> str:
    identity = parse_id(text)
    if identity is None:
        raise JobIdInvalid(f"{text!r} is no job id")
    return identity
