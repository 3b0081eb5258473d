"""The queue seen from outside a run: submitting, reading, counting, and changing the status of a job."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jobs.domain.job import Cancel, Event, Job, Status
from jobs.domain.log import CANCEL_REQUESTED, CREATED, PAUSE_REQUESTED, LogEntry, transition_entry
from jobs.store.log import append
from jobs.store.rows import COLUMNS, change_of, counted, job_of, json_text
from palace.domain.clock import Timestamp
from palace.store import Fragment, Store, TransactionRefused
from palace.store.changes import announce

JOB_CHANGED = "job_changed"


class JobChanged(Exception):
    """The job is no longer as it was read. Nothing was written."""


CREATE = """
LET $job_number = (CREATE type::record('job', $job_id) SET
    kind = encoding::json::decode($job_kind), status = $job_status, priority = $job_priority,
    background = $job_background, writes_palace = $job_writes_palace, exclusive = $job_exclusive, waits = $job_waits,
    created_at = $job_created_at, requested_by = $job_requested_by,
    progress = encoding::json::decode($job_progress), checkpoint = encoding::json::decode($job_checkpoint),
    attempt = 0, max_attempts = $job_max_attempts, recovery_attempts = 0,
    pause_requested = false, cancel_requested = false, log_length = 1
    RETURN VALUE log_length);
"""


ROW_CHARACTERS = 4_000
"""Longer parameters get a row of their own: the job's row is written anew with every step of its run."""
CREATE_PARAMS = "CREATE type::record('job_params', $params_job) SET params = $params_text RETURN NONE;"


def _apart(job: Job) -> tuple[Fragment, ...]:
    """Stores large parameters outside of the job's row; nothing for others."""
    text = json_text(job.params)
    return (Fragment(CREATE_PARAMS, {"params_job": job.id, "params_text": text}),) if len(text) > ROW_CHARACTERS else ()


async def insert(store: Store, job: Job) -> None:
    """Puts a new, queued job into the table. Raises RecordExists when a job of its coalescing key waits already."""
    apart = _apart(job)
    fragment = Fragment(
        CREATE,
        {
            "job_id": job.id,
            "job_kind": json_text({"type": job.kind, **({} if apart else job.params)}),
            "job_status": job.status.value,
            "job_priority": int(job.priority),
            "job_background": job.background,
            "job_writes_palace": job.writes_palace,
            "job_exclusive": job.exclusive,
            "job_waits": job.coalesce,
            "job_created_at": job.created_at,
            "job_requested_by": job.requested_by,
            "job_progress": json_text(job.progress.as_json()),
            "job_checkpoint": json_text(job.checkpoint),
            "job_max_attempts": job.max_attempts,
        },
    )
    created = LogEntry(job.created_at, CREATED, None, job.status.value, None, None)
    await store.transact(fragment, *apart, append(job.id, created), announce(job.created_at, change_of(job, "created")))


WAITING = f"SELECT {COLUMNS} FROM job WHERE waits = $key;"


async def waiting(store: Store, key: str) -> Job | None:
    """The job of that coalescing key that waits for its first run."""
    rows = await store.first(WAITING, key=key)
    return job_of(rows[0]) if rows else None


READ = f"SELECT {COLUMNS} FROM type::record('job', $job_id);"


async def read(store: Store, job_id: str) -> Job | None:
    """The job with that id."""
    rows = await store.first(READ, job_id=job_id)
    return job_of(rows[0]) if rows else None


LIST = f"SELECT {COLUMNS} FROM job"
OLDER = "created_at <= $created_at AND (created_at < $created_at OR id < type::record('job', $before))"
NEWEST_FIRST = " ORDER BY created_at DESC, id DESC"


async def list_jobs(
    store: Store,
    *,
    status: Status | None = None,
    kind: str | None = None,
    limit: int | None = None,
    before: Job | None = None,
) -> list[Job]:
    """Jobs, newest first, those of one instant by id; all of them without a limit, only those behind `before`."""
    conditions, variables = [], dict[str, Any]()
    if status is not None:
        conditions.append("status = $status")
        variables["status"] = status.value
    if kind is not None:
        conditions.append("kind.type = $kind")
        variables["kind"] = kind
    if before is not None:
        conditions.append(OLDER)
        variables |= {"created_at": before.created_at, "before": before.id}
    statement = LIST + (" WHERE " + " AND ".join(conditions) if conditions else "") + NEWEST_FIRST
    if limit is not None:
        statement += " LIMIT $limit"
        variables["limit"] = limit
    return [job_of(row) for row in await store.first(statement + ";", **variables)]


COUNT = "".join(f"SELECT count() FROM job WHERE status = '{status.value}' GROUP ALL;" for status in Status)


async def counts(store: Store) -> dict[Status, int]:
    """How many jobs have each status, zeros included."""
    answers = await store.query(COUNT)
    return {status: counted(rows) for status, rows in zip(Status, answers, strict=True)}


COUNT_WRITERS = """
SELECT count() FROM job WHERE status IN ['queued', 'running', 'paused'] AND writes_palace = true GROUP ALL;
"""


async def pending_palace_writers(store: Store) -> int:
    """How many jobs that write to the palace have not ended."""
    return counted(await store.first(COUNT_WRITERS))


TRANSITION = f"""
LET $job_number = (UPDATE type::record('job', $job_id) SET
        status = $job_status, started_at = $job_started_at, completed_at = $job_completed_at,
        attempt = $job_attempt, recovery_attempts = $job_recovery_attempts, error = $job_error,
        result = IF $job_result = NONE THEN NONE ELSE encoding::json::decode($job_result) END,
        lease_owner = $job_lease_owner, lease_expires_at = $job_lease_expires_at, lease_shared = $job_lease_shared,
        pause_requested = $job_pause_requested, cancel_requested = $job_cancel_requested,
        waits = NONE, log_length = (log_length ?? 0) + 1
    WHERE status = $job_seen_status AND (lease_owner ?? '') = $job_seen_owner
        AND pause_requested = $job_seen_pause AND cancel_requested = $job_seen_cancel
        AND ($job_seen_expiry = NONE OR lease_expires_at = $job_seen_expiry)
    RETURN VALUE log_length);
IF array::is_empty($job_number) {{ THROW '{JOB_CHANGED}'; }};
"""


async def transition(
    store: Store,
    before: Job,
    after: Job,
    now: Timestamp,
    *,
    same_lease: bool = False,
    reason: str | None = None,
    patience: float | None = None,
) -> None:
    """Writes what `before` became, on condition that the row is still as `before` says.

    The condition covers the status, the owner and the stop requests; with `same_lease` also the lease's expiry, so
    that a heartbeat in between makes it fail. Progress and checkpoint belong to the run and are left alone. `reason`
    goes into the job's log. `patience` is how many seconds it lets other writers go first, None for as long as it takes.
    Raises JobChanged, and RecordExists when the job would start to run while another one of its exclusive key runs.
    """
    fragment = Fragment(
        TRANSITION,
        {
            "job_id": after.id,
            "job_status": after.status.value,
            "job_started_at": after.started_at,
            "job_completed_at": after.completed_at,
            "job_attempt": after.attempt,
            "job_recovery_attempts": after.recovery_attempts,
            "job_error": after.error,
            "job_result": None if after.result is None else json_text(after.result),
            "job_lease_owner": after.lease_owner,
            "job_lease_expires_at": after.lease_expires_at,
            "job_lease_shared": after.lease_shared,
            "job_pause_requested": after.pause_requested,
            "job_cancel_requested": after.cancel_requested,
            "job_seen_status": before.status.value,
            "job_seen_owner": before.lease_owner or "",
            "job_seen_pause": before.pause_requested,
            "job_seen_cancel": before.cancel_requested,
            "job_seen_expiry": before.lease_expires_at if same_lease else None,
        },
    )
    await _guarded(store, fragment, after, transition_entry(before, after, now, reason), patience)


REQUEST_STOP = f"""
LET $job_number = (UPDATE type::record('job', $job_id) SET
        pause_requested = pause_requested OR $job_pause, cancel_requested = cancel_requested OR $job_cancel,
        log_length = (log_length ?? 0) + 1
    WHERE status = 'running' AND lease_owner = $job_worker
    RETURN VALUE log_length);
IF array::is_empty($job_number) {{ THROW '{JOB_CHANGED}'; }};
"""


async def request_stop(store: Store, job: Job, event: Event, now: Timestamp, *, patience: float | None = None) -> Job:
    """Stores that a running job is to be cancelled, or else paused. Raises JobChanged when its run ended meanwhile."""
    cancel = isinstance(event, Cancel)
    asked = replace(job, cancel_requested=job.cancel_requested or cancel, pause_requested=job.pause_requested or not cancel)
    fragment = Fragment(
        REQUEST_STOP,
        {"job_id": job.id, "job_worker": job.lease_owner, "job_pause": not cancel, "job_cancel": cancel},
    )
    status = job.status.value
    event_name = CANCEL_REQUESTED if cancel else PAUSE_REQUESTED
    await _guarded(store, fragment, asked, LogEntry(now, event_name, status, status, job.lease_owner, None), patience)
    return asked


async def _guarded(store: Store, fragment: Fragment, after: Job, entry: LogEntry, patience: float | None) -> None:
    told = announce(entry.at, change_of(after))
    try:
        await store.transact(fragment, append(after.id, entry), told, patience=patience)
    except TransactionRefused as refusal:
        if refusal.reason != JOB_CHANGED:
            raise
        raise JobChanged(f"job {after.id} changed meanwhile") from None
