"""The one seam of jobs: submitting, reading, controlling."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from jobs import kinds, store
from jobs.conf import JobsConfig
from jobs.domain.checkpoint import CheckpointItem, problem_with_items
from jobs.domain.job import Cancel, Event, Job, Pause, Priority, Resume, Retry, Status, apply
from jobs.domain.log import LogEntry
from jobs.errors import BasedOnJobInvalid, FactsUnavailable, JobContended, JobIdInvalid, JobNotFound, JobOrphaned
from jobs.runtime.force_cancel import force_cancel as force
from jobs.runtime.run import run_of
from jobs.signals import job_queued
from palace.clock import now
from palace.configuration import current as configured
from palace.domain.clock import add_seconds
from palace.domain.ids import new_id, parse_id
from palace.domain.limits import effective_limit
from palace.domain.modes import Caller
from palace.domain.names import problem_with_name
from palace.errors import InvalidInput
from palace.modes import require_read, require_write
from palace.services.hierarchy import require_name
from palace.store import RecordExists, TransactionRefused, current
from palace.store.hierarchy import find_wing

logger = logging.getLogger("memcastle.jobs")

LISTING_LIMIT = 50
CONTROL_TRIES = 5
"""How often a control request starts again because the job changed meanwhile."""
CONTROL_PAUSE_SECONDS = 0.02
DAY_SECONDS = 86_400


async def submit(
    type: str,
    params: Mapping[str, Any],
    caller: Caller,
    *,
    priority: Priority | None = None,
    exclusive: str | None = None,
    coalesce: str | None = None,
) -> Job:
    """Puts a job into the queue and wakes the workers.

    The mode gate and the checks of the parameters belong to the kind's own service. `exclusive` names what at most
    one running job may work on. `coalesce` names what one waiting job is enough for: while a job of that key waits
    for its first run, a further submission joins it and gets it back. Raises ValueError for a kind that is not
    registered.
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
        coalesce=coalesce,
    )
    if coalesce is None:
        await store.insert(current(), job)
    elif (waiting := await _joined(job, coalesce)) is not None:
        return waiting
    logger.info(
        "job queued",
        extra={"job_id": job.id, "job_type": job.kind, "priority": int(job.priority), "requested_by": job.requested_by},
    )
    job_queued.send_robust(sender=None, job=job)
    return job


async def _joined(job: Job, key: str) -> Job | None:
    """The job of that key that waits already, or None after this one was put into the queue."""
    for _ in range(CONTROL_TRIES):
        if (waiting := await store.waiting(current(), key)) is not None:
            return waiting
        try:
            await store.insert(current(), job)
        except RecordExists:
            continue
        return None
    raise JobContended(f"jobs of the key {key} kept coming and going")


async def submit_demo(caller: Caller, steps: int) -> Job:
    """Queues a demo job. Needs no memory mode: it touches no memory."""
    return await submit("demo", {"steps": steps}, caller)


async def submit_audit(caller: Caller, wing: str | None = None) -> Job:
    """Queues an audit. Needs no memory mode: its report holds ids and counts only."""
    return await submit("audit", {"wing": wing}, caller)


async def submit_checkpoint(caller: Caller, items: Sequence[CheckpointItem], *, emergency: bool = False) -> Job:
    """Queues the filing of texts, before other work; an emergency before everything.

    Raises InvalidInput on `payload` for items that no run could file, PathInvalid for an unusable name of a drawer or of
    a new wing, FactsUnavailable for an item with a fact. No job is queued then.
    """
    require_write(caller, "emergency_checkpoint" if emergency else "checkpoint")
    if problem := problem_with_items(items):
        raise InvalidInput("payload", problem)
    for name in dict.fromkeys(item.name for item in items if item.name is not None):
        require_name(name, "drawer")
    wings = dict.fromkeys(item.wing for item in items if item.wing is not None)
    for wing in (wing for wing in wings if problem_with_name(wing, allow_slash=False) is not None):
        if await find_wing(current(), wing, None) is None:
            require_name(wing, "wing")
    facts = [f"items[{index}]" for index, item in enumerate(items) if item.fact is not None]
    if facts:
        raise FactsUnavailable(f"{facts[0]} carries a fact, and this version stores no facts; nothing was stored")
    payload = {"items": [item.as_json() for item in items]}
    return await submit("checkpoint", {"payload": payload}, caller, priority=Priority.CRITICAL if emergency else None)


async def submit_repair(caller: Caller, *, dry_run: bool = True, based_on_job: str | None = None) -> Job:
    """Queues a repair of what an audit finds; a dry run needs no memory mode, since its report holds ids only.

    Raises JobIdInvalid, BasedOnJobInvalid.
    """
    audit = None if based_on_job is None else _identity(based_on_job)
    if not dry_run:
        require_write(caller, "repair")
    if audit is not None:
        await audited_orphans(audit)
    return await submit("repair", {"dry_run": dry_run, "based_on_job": audit}, caller)


async def audited_orphans(job_id: str) -> set[str]:
    """Ids of the drawers that a completed audit found to have no room. Raises BasedOnJobInvalid for any other job."""
    job = await store.read(current(), job_id)
    if job is None:
        raise BasedOnJobInvalid(f"there is no job {job_id} to base a repair on")
    if job.kind != "audit" or job.status is not Status.COMPLETED or job.result is None:
        raise BasedOnJobInvalid(f"job {job_id} is a {job.status.value} {job.kind} job, and no completed audit with a report")
    return {finding["drawer_id"] for finding in job.result["orphan_drawers"]}


async def list_jobs(
    caller: Caller,
    *,
    status: str | None = None,
    kind: str | None = None,
    limit: int | None = None,
    before: str | None = None,
) -> list[Job]:
    """Jobs, newest first. With none of `kind`, `limit` and `before` all of them, else a page (default 50, at most 200).

    `before` is the id of a job, usually the last of a page; what follows it is listed. An unknown kind gives an empty
    page, a blank one filters nothing. Raises InvalidInput for an unknown status, JobIdInvalid and JobNotFound for
    `before`.
    """
    wanted = None if status is None else _status(status)
    require_read(caller, "job_list")
    page = None if kind is None and limit is None and before is None else effective_limit(limit, LISTING_LIMIT)
    filtered = kind if kind is not None and kind.strip() else None
    last = None if before is None else await _existing(_identity(before))
    return await store.list_jobs(current(), status=wanted, kind=filtered, limit=page, before=last)


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


async def job_log(caller: Caller, job_id: str) -> list[LogEntry]:
    """Everything that happened to a job, oldest first. Raises JobIdInvalid, JobNotFound."""
    identity = _identity(job_id)
    require_read(caller, "job_get")
    await _existing(identity)
    return await store.read_log(current(), identity)


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


async def force_cancel(job_id: str) -> Job:
    """Cancels a running mine of this daemon at once, its thread stopped or left behind; gives the cancelled job.

    What it had committed stays. Raises JobIdInvalid, JobNotFound, TransitionInvalid, JobOrphaned, JobContended.
    """
    identity = _identity(job_id)
    logger.info("job control requested", extra={"job_id": identity, "request": "force_cancel"})
    for _ in range(CONTROL_TRIES):
        with contextlib.suppress(store.JobChanged):
            return await force(await _existing(identity))
    raise JobContended(f"job {identity} kept changing")


async def retry(job_id: str) -> Job:
    """Puts a failed job back into the queue; it continues from its checkpoint. Raises as `pause` does."""
    return await _control(job_id, Retry())


async def remove_aged() -> int:
    """Removes jobs that ended more than `jobs.keep_days` ago, with their logs; returns how many."""
    days = configured(JobsConfig).keep_days
    removed = 0
    while days:
        at = now()
        try:
            batch = await store.remove_aged_jobs(current(), add_seconds(at, -days * DAY_SECONDS), at)
        except TransactionRefused:
            continue
        removed += batch
        if not batch:
            break
    if removed:
        logger.info("old jobs removed", extra={"jobs": removed, "keep_days": days})
    return removed


async def _control(job_id: str, event: Event) -> Job:
    """Carries an event out on the job as it is at that moment; starts again when it changed meanwhile."""
    identity = _identity(job_id)
    logger.info("job control requested", extra={"job_id": identity, "request": type(event).__name__.lower()})
    orphan: Job | None = None
    for _ in range(CONTROL_TRIES):
        job = await _existing(identity)
        after = apply(job, event, now())
        orphan = job if job.status is Status.RUNNING and run_of(job) is None and not _held(job) else None
        if orphan is None:
            try:
                return await _carried_out(job, after, event)
            except store.JobChanged:
                pass
        # A run that ends this very moment is on its way out of the list of runs.
        await asyncio.sleep(CONTROL_PAUSE_SECONDS)
    if orphan is not None:
        raise JobOrphaned(f"job {identity} is recorded as running on {orphan.lease_owner}, which gives no sign of life")
    raise JobContended(f"job {identity} kept changing")


def _held(job: Job) -> bool:
    """Whether the lease of a running job holds: some worker, of whatever daemon, will see a request stored with it."""
    return job.lease_expires_at is not None and job.lease_expires_at > now()


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
