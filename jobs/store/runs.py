"""The queue seen from a worker: claiming a job, keeping its lease, saving how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.domain.job import Claim, Job, Progress, apply
from jobs.errors import LeaseLost
from jobs.store.records import JobChanged, transition
from jobs.store.rows import COLUMNS, change_of, job_of, json_text
from palace.domain.clock import Timestamp
from palace.store import Fragment, RecordExists, Store, TransactionRefused
from palace.store.changes import announce

LEASE_LOST = "lease_lost"
RENEWAL_PATIENCE_SECONDS = 0.5
"""How long a renewal lets other writers go first. The deletion of a large wing takes longer than a lease lasts."""
CLAIM_TRIES = 5
"""How often a claim looks again after another worker was faster."""

HELD_KEYS = "LET $held = SELECT VALUE holds FROM job WHERE holds != NONE;"
# One index scan for each of the two lanes: a condition on the lane inside one scan would read past all that wait there.
FIRST_OF_FOREGROUND, FIRST_OF_BACKGROUND = (
    f"""
SELECT {COLUMNS}, claim_rank FROM job
    WHERE status = 'queued' AND background = {lane} AND (exclusive = NONE OR exclusive NOT IN $held)
    ORDER BY claim_rank, created_at LIMIT 1;
"""
    for lane in ("false", "true")
)
DUE_IN_FOREGROUND = HELD_KEYS + FIRST_OF_FOREGROUND
DUE_ANYWHERE = DUE_IN_FOREGROUND + FIRST_OF_BACKGROUND


async def claim(
    store: Store, worker: str, now: Timestamp, lease_expires_at: Timestamp, *, allow_background: bool
) -> Job | None:
    """Makes the worker the owner of the queued job that is due, or gives None.

    Due is the highest priority, then the oldest, among the jobs whose exclusive key no running job holds; background
    jobs only when allowed. A worker that is beaten to a job tries the next one.
    """
    for _ in range(CLAIM_TRIES):
        job = await _due(store, allow_background)
        if job is None:
            return None
        claimed = apply(job, Claim(worker, lease_expires_at, store.shared), now)
        try:
            await transition(store, job, claimed, now)
        except (JobChanged, RecordExists):
            continue
        return claimed
    return None


async def _due(store: Store, allow_background: bool) -> Job | None:
    _, *lanes = await store.query(DUE_ANYWHERE if allow_background else DUE_IN_FOREGROUND)
    candidates = [job_of(row) for rows in lanes for row in rows]
    return min(candidates, key=lambda job: (-job.priority, job.created_at), default=None)


RUNNING = f"SELECT {COLUMNS} FROM job WHERE status = 'running';"


async def running(store: Store) -> list[Job]:
    """The jobs recorded as running, on whatever daemon."""
    return [job_of(row) for row in await store.first(RUNNING)]


@dataclass(frozen=True, slots=True)
class Requests:
    """What was asked of a running job."""

    pause: bool
    cancel: bool


SAVE = f"""
LET $job_saved = (UPDATE type::record('job', $job_id) SET
    checkpoint = IF $job_checkpoint = NONE THEN checkpoint ELSE encoding::json::decode($job_checkpoint) END,
    progress = encoding::json::decode($job_progress), lease_expires_at = $job_lease_expires_at
    WHERE status = 'running' AND lease_owner = $job_worker
    RETURN VALUE {{ pause: pause_requested, cancel: cancel_requested }});
IF array::is_empty($job_saved) {{ THROW '{LEASE_LOST}'; }};
"""


def checkpoint_fragment(
    job: Job,
    worker: str,
    checkpoint: Mapping[str, Any] | None,
    progress: Progress,
    now: Timestamp,
    expires_at: Timestamp,
) -> Fragment:
    """Saves a run's checkpoint (None: the old one stays) and progress, renews its lease, and says so in the outbox.

    The transaction it is part of is refused with the reason LEASE_LOST when the job is no longer run by the worker.
    """
    # The transaction this joins has an announcement of its own, whose variables must stay apart.
    told = announce(now, change_of(job))
    variables = {
        "job_id": job.id,
        "job_worker": worker,
        "job_checkpoint": None if checkpoint is None else json_text(checkpoint),
        "job_progress": json_text(progress.as_json()),
        "job_lease_expires_at": expires_at,
        **{f"job_{name}": value for name, value in told.variables.items()},
    }
    return Fragment(SAVE + told.sql.replace("$", "$job_"), variables, announces=True)


async def save_checkpoint(
    store: Store,
    job: Job,
    worker: str,
    checkpoint: Mapping[str, Any] | None,
    progress: Progress,
    now: Timestamp,
    expires_at: Timestamp,
) -> Requests:
    """Saves as `checkpoint_fragment` says, alone, and gives what was asked of the job. Raises LeaseLost."""
    save = checkpoint_fragment(job, worker, checkpoint, progress, now, expires_at)
    try:
        found = await store.first(f"{{ {save.sql} RETURN $job_saved[0]; }};", **save.variables)
    except TransactionRefused as refusal:
        if refusal.reason != LEASE_LOST:
            raise
        raise lease_lost(job.id, worker) from None
    store.news.set()
    return Requests(**found)


REQUESTS = """
SELECT pause_requested AS pause, cancel_requested AS cancel FROM type::record('job', $job_id)
    WHERE status = 'running' AND lease_owner = $worker;
"""


async def requests(store: Store, job_id: str, worker: str) -> Requests:
    """What was asked of a job that the worker runs. Raises LeaseLost."""
    rows = await store.first(REQUESTS, job_id=job_id, worker=worker)
    if not rows:
        raise lease_lost(job_id, worker)
    return Requests(**rows[0])


def lease_lost(job_id: str, worker: str) -> LeaseLost:
    return LeaseLost(f"job {job_id} is no longer run by {worker}")


RENEW = """
UPDATE job SET lease_expires_at = $expires_at WHERE status = 'running' AND lease_owner = $worker
    RETURN VALUE record::id(id);
"""


async def renew_leases(store: Store, worker: str, expires_at: Timestamp) -> set[str]:
    """Renews the leases of all jobs that the worker runs, and gives their ids. Not announced: it is no news."""
    renew = Fragment(RENEW, {"worker": worker, "expires_at": expires_at})
    renewed, *_ = await store.transact(renew, patience=RENEWAL_PATIENCE_SECONDS)
    return set(renewed)
