"""The job table and its SurrealQL."""

from jobs.store.log import read_log
from jobs.store.records import (
    JobChanged,
    counts,
    insert,
    list_jobs,
    pending_palace_writers,
    read,
    request_stop,
    transition,
    waiting,
)
from jobs.store.retention import remove_aged_jobs
from jobs.store.rows import change_of, json_text
from jobs.store.runs import (
    LEASE_LOST,
    Renewed,
    Requests,
    checkpoint_fragment,
    claim,
    due,
    lease_lost,
    oldest_queued,
    renew_leases,
    requests,
    running,
    save_checkpoint,
)

__all__ = [
    "LEASE_LOST",
    "JobChanged",
    "Renewed",
    "Requests",
    "change_of",
    "checkpoint_fragment",
    "claim",
    "counts",
    "due",
    "insert",
    "json_text",
    "lease_lost",
    "list_jobs",
    "oldest_queued",
    "pending_palace_writers",
    "read",
    "read_log",
    "remove_aged_jobs",
    "renew_leases",
    "request_stop",
    "requests",
    "running",
    "save_checkpoint",
    "transition",
    "waiting",
]
