"""Jobs whose worker is gone: back into the queue, or to the end that somebody asked for."""

from __future__ import annotations

import logging
from collections.abc import Container

from jobs import store
from jobs.domain.job import Job, recovered
from palace.clock import now
from palace.store import current

logger = logging.getLogger("memcastle.jobs")


async def recover_at_start() -> int:
    """Settles the jobs that a dead daemon left running; returns how many. For a daemon that runs nothing yet.

    A database inside the process admits one daemon, so a job that it ran itself is a dead one's, whatever its lease
    says. Whoever reaches the database over the network may live, and so may its workers until their leases run out.
    """
    found = 0
    shared = current().shared
    for job in await store.running(current()):
        if not (_holds(job) and (shared or job.lease_shared)):
            found += await _recover(job, f"the daemon of {job.lease_owner} ended without it")
    return found


async def reap(running_here: Container[str]) -> int:
    """Settles the running jobs whose lease has run out, except those that this daemon runs; returns how many."""
    found = 0
    for job in await store.running(current()):
        if job.id not in running_here and not _holds(job):
            found += await _recover(job, f"{job.lease_owner} gave no sign of life until {job.lease_expires_at}")
    return found


def _holds(job: Job) -> bool:
    return job.lease_expires_at is not None and job.lease_expires_at > now()


async def _recover(job: Job, reason: str) -> int:
    after = recovered(job, now())
    try:
        await store.transition(current(), job, after, now(), same_lease=True, reason=reason)
    except store.JobChanged:
        return 0
    about = {"job_id": job.id, "job_type": job.kind, "status": after.status.value, "reason": reason}
    logger.info("job recovered", extra={**about, "recovery_attempts": after.recovery_attempts})
    return 1
