"""The queue seen from a worker: claiming a job, keeping its lease, saving how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        job = await due(store, allow_background=allow_background)
        if job is None:
            return None
        claimed = apply(job, Claim(worker, lease_expires_at, store.shared), now)
        try:
            await transition(store, job, claimed, now)
        except (JobChanged, RecordExists):
            continue
        return claimed
    return None


async def due(store: Store, *, allow_background: bool) -> Job | None:
    """The job that would be claimed next."""
    _, *lanes = await store.query(DUE_ANYWHERE if allow_background else DUE_IN_FOREGROUND)
    candidates = [job_of(row) for rows in lanes for row in rows]
    return min(candidates, key=lambda job: (-job.priority, job.created_at), default=None)


OLDEST_QUEUED = "SELECT VALUE created_at FROM job WHERE status = 'queued' ORDER BY created_at LIMIT 1;"


async def oldest_queued(store: Store) -> Timestamp | None:
    """When the job that has waited longest was submitted."""
    rows = await store.first(OLDEST_QUEUED)
    return rows[0] if rows else None


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
    WHERE status = 'running' AND lease_owner = $job_worker AND attempt = $job_attempt
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

    The transaction it is part of is refused with the reason LEASE_LOST when the job is no longer run by the worker, or
    by a later run of the same worker: the number of the claim tells runs apart.
    """
    # The transaction this joins has an announcement of its own, whose variables must stay apart.
    told = announce(now, change_of(job))
    variables = {
        "job_id": job.id,
        "job_worker": worker,
        "job_attempt": job.attempt,
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
    WHERE status = 'running' AND lease_owner = $worker AND attempt = $attempt;
"""


async def requests(store: Store, job: Job, worker: str) -> Requests:
    """What was asked of a job, seen from a run of it. Raises LeaseLost."""
    rows = await store.first(REQUESTS, job_id=job.id, worker=worker, attempt=job.attempt)
    if not rows:
        raise lease_lost(job.id, worker)
    return Requests(**rows[0])


def lease_lost(job_id: str, worker: str) -> LeaseLost:
    return LeaseLost(f"job {job_id} is no longer run by {worker}")


RENEW = """
UPDATE $held.map(|$id| type::record('job', $id)) SET lease_expires_at = $expires_at
    WHERE status = 'running' AND lease_owner = $worker
    RETURN VALUE { id: record::id(id), attempt: attempt, pause: pause_requested, cancel: cancel_requested };
"""


@dataclass(frozen=True, slots=True)
class Renewed:
    """A job whose lease was renewed: the number of its claim, and what was asked of it."""

    attempt: int
    requests: Requests


async def renew_leases(store: Store, worker: str, held: Sequence[str], expires_at: Timestamp) -> dict[str, Renewed]:
    """Renews the leases of those of the jobs that the worker still owns, by id. Not announced: it is no news.

    A lease that has run out is renewed as well, as long as nobody took the job: the row says whose it is, not the clock.
    """
    renew = Fragment(RENEW, {"held": list(held), "worker": worker, "expires_at": expires_at})
    rows, *_ = await store.transact(renew, patience=RENEWAL_PATIENCE_SECONDS)
    return {row["id"]: Renewed(row["attempt"], Requests(row["pause"], row["cancel"])) for row in rows}
