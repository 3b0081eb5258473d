"""The log of jobs, written in the transactions that change them."""

from __future__ import annotations

from jobs.domain.log import LogEntry
from palace.store import Fragment, Store

APPEND = """
CREATE job_log SET job = $log_job, number = $job_number[0], at = $log_at, event = $log_event,
    before = $log_before, after = $log_after, worker = $log_worker, reason = $log_reason RETURN NONE;
"""


def append(job_id: str, entry: LogEntry) -> Fragment:
    """Appends to the log of a job whose counter the transaction has just moved and bound as `$job_number`."""
    return Fragment(
        APPEND,
        {
            "log_job": job_id,
            "log_at": entry.at,
            "log_event": entry.event,
            "log_before": entry.before,
            "log_after": entry.after,
            "log_worker": entry.worker,
            "log_reason": entry.reason,
        },
    )


READ = "SELECT at, event, before, after, worker, reason, number FROM job_log WHERE job = $job_id ORDER BY number;"


async def read_log(store: Store, job_id: str) -> list[LogEntry]:
    """Everything that happened to a job, in order."""
    rows = await store.first(READ, job_id=job_id)
    fields = ("at", "event", "before", "after", "worker", "reason")
    return [LogEntry(*(row.get(field) for field in fields)) for row in rows]
