"""The log of a job: every change of its status, and every request to stop it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from jobs.domain.job import Job, Status
from palace.domain.clock import Timestamp

CREATED = "created"
PAUSE_REQUESTED = "pause_requested"
CANCEL_REQUESTED = "cancel_requested"

# A move into one of these statuses is named after it; only moves into the queue and out of it need words of their own.
_NAMES = MappingProxyType(
    {
        (Status.QUEUED, Status.RUNNING): "claimed",
        (Status.RUNNING, Status.QUEUED): "requeued",
        (Status.PAUSED, Status.QUEUED): "resumed",
        (Status.FAILED, Status.QUEUED): "retried",
    }
)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One thing that happened to a job."""

    at: Timestamp
    event: str
    """`created`, `claimed`, `requeued`, `resumed`, `retried`, `paused`, `completed`, `failed`, `cancelled`,
    `pause_requested` or `cancel_requested`."""
    before: str | None
    """The status before; None at the creation."""
    after: str
    worker: str | None
    """The worker that held the job, or took it; None when none did."""
    reason: str | None
    """Why, where there is more to say than the event's name."""

    def as_json(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "event": self.event,
            "from": self.before,
            "to": self.after,
            "worker": self.worker,
            "reason": self.reason,
        }


def transition_entry(before: Job, after: Job, at: Timestamp, reason: str | None) -> LogEntry:
    """The entry of a change of status. A failure without another reason has its error as the reason."""
    return LogEntry(
        at,
        _NAMES.get((before.status, after.status), after.status.value),
        before.status.value,
        after.status.value,
        before.lease_owner or after.lease_owner,
        reason or (after.error if after.status is Status.FAILED else None),
    )
