"""A job, its status, and the rules that change it.

A status changes in one way only: `apply` looks the event up in `TRANSITIONS`, and a pair that is not listed there is
refused. Whatever leaves `running` gives up its lease and its pending stop requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

from jobs.errors import TransitionInvalid
from palace.domain.clock import Timestamp

MAX_ATTEMPTS = 3
"""Crashes that fail a job: the last of them does, the ones before put it back into the queue."""


class Status(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Priority(IntEnum):
    """Coarse levels with fixed stored numbers; a higher one is always claimed first."""

    CRITICAL = 100
    HIGH = 75
    NORMAL = 50
    LOW = 25
    BACKGROUND = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is, in units of its kind; `total` is None while unknown."""

    current: int = 0
    total: int | None = None
    message: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"current": self.current, "total": self.total, "message": self.message}


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work that outlives processes."""

    id: str
    kind: str
    params: Mapping[str, Any]
    """What the kind was asked to do; never changes."""
    priority: Priority
    created_at: Timestamp
    requested_by: str
    background: bool = False
    """Whether it counts against the limit of background jobs."""
    writes_palace: bool = False
    """Whether deletions wait for it."""
    exclusive: str | None = None
    """Of the jobs that share this key at most one runs at a time."""
    coalesce: str | None = None
    """Of the jobs that share this key at most one waits for its first run; a further submission joins it."""
    status: Status = Status.QUEUED
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    progress: Progress = Progress()
    attempt: int = 0
    """Claims so far, informational."""
    max_attempts: int = MAX_ATTEMPTS
    recovery_attempts: int = 0
    """Crashes so far, budgeted by `max_attempts`."""
    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    """Where a later run continues; its shape belongs to the kind."""
    result: Mapping[str, Any] | None = None
    error: str | None = None
    lease_owner: str | None = None
    lease_expires_at: Timestamp | None = None
    lease_shared: bool = False
    """Whether the owner reaches the palace over a shared database, and so may live on while another daemon restarts."""
    pause_requested: bool = False
    cancel_requested: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker takes the job until the lease expires."""

    worker: str
    lease_expires_at: Timestamp
    shared: bool = False
    """Whether the worker's daemon shares the palace's database with others."""


@dataclass(frozen=True, slots=True)
class Pause:
    """The run stopped at a boundary because a pause was asked for."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A paused job goes back to the queue."""


@dataclass(frozen=True, slots=True)
class Complete:
    """The run reached its end, with a report or without one."""

    result: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """The run cannot go on; `error` is the message people read."""

    error: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """The job is given up; `result` is the report on what it had done by then, if its kind leaves one."""

    result: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Requeue:
    """The run was cut short through no fault of the job: a daemon stopped or died."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A failed job goes back to the queue with its checkpoint."""


Event = Claim | Pause | Resume | Complete | Fail | Cancel | Requeue | Retry

TRANSITIONS: Mapping[tuple[Status, type[Event]], Status] = MappingProxyType(
    {
        (Status.QUEUED, Claim): Status.RUNNING,
        (Status.QUEUED, Cancel): Status.CANCELLED,
        (Status.RUNNING, Pause): Status.PAUSED,
        (Status.RUNNING, Complete): Status.COMPLETED,
        (Status.RUNNING, Fail): Status.FAILED,
        (Status.RUNNING, Cancel): Status.CANCELLED,
        (Status.RUNNING, Requeue): Status.QUEUED,
        (Status.PAUSED, Resume): Status.QUEUED,
        (Status.PAUSED, Cancel): Status.CANCELLED,
        (Status.FAILED, Retry): Status.QUEUED,
    }
)
ENDS = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})


def apply(job: Job, event: Event, now: Timestamp) -> Job:
    """The job after `event`. Raises TransitionInvalid when its status does not allow it."""
    status = TRANSITIONS.get((job.status, type(event)))
    if status is None:
        raise TransitionInvalid(f"job {job.id} is {job.status.value}, which does not allow to {_verb(event)} it")
    changed = replace(job, status=status, completed_at=now if status in ENDS else None)
    if job.status is Status.RUNNING:
        changed = replace(
            changed,
            lease_owner=None,
            lease_expires_at=None,
            lease_shared=False,
            pause_requested=False,
            cancel_requested=False,
        )
    match event:
        case Claim(worker, lease_expires_at, shared):
            return replace(
                changed,
                started_at=job.started_at or now,
                attempt=job.attempt + 1,
                lease_owner=worker,
                lease_expires_at=lease_expires_at,
                lease_shared=shared,
            )
        case Complete(result) | Cancel(result):
            return replace(changed, result=result)
        case Fail(error):
            return replace(changed, error=error)
        case Retry():
            return replace(changed, error=None)
    return changed


def _verb(event: Event) -> str:
    return type(event).__name__.lower()


def stopped(job: Job, now: Timestamp, report: Mapping[str, Any] | None = None) -> Job:
    """A running job after its run stopped early: what was asked of it decides, a cancel before a pause.

    Nobody asked anything: the daemon stops, and the job goes back to the queue. `report` is what a cancelled job
    leaves as its result; whatever will run again makes a new one.
    """
    if job.cancel_requested:
        return apply(job, Cancel(report), now)
    return apply(job, Pause() if job.pause_requested else Requeue(), now)


def recovered(job: Job, now: Timestamp) -> Job:
    """A running job after the daemon that ran it died.

    A pending cancel or pause is honoured and costs nothing. Otherwise the crash is charged: the job goes back to the
    queue with its checkpoint, or fails when its budget is used up.
    """
    if job.cancel_requested or job.pause_requested:
        return stopped(job, now)
    crashes = job.recovery_attempts + 1
    charged = replace(job, recovery_attempts=crashes)
    if crashes < job.max_attempts:
        return apply(charged, Requeue(), now)
    reason = (
        f"the crash budget is used up: the daemon died {crashes} times while this job ran; "
        "a retry continues from its checkpoint"
    )
    return apply(charged, Fail(reason), now)


def job_json(job: Job) -> dict[str, Any]:
    """The job as every door shows it; `kind` carries the parameters, tagged by `type`."""
    return {
        "id": job.id,
        "kind": {"type": job.kind, **job.params},
        "status": job.status.value,
        "priority": int(job.priority),
        "created_at": job.created_at,
        "started_at": job.started_at,
        "completed_at": job.completed_at,
        "requested_by": job.requested_by,
        "progress": job.progress.as_json(),
        "attempt": job.attempt,
        "recovery_attempts": job.recovery_attempts,
        "max_attempts": job.max_attempts,
        "checkpoint": dict(job.checkpoint),
        "result": None if job.result is None else dict(job.result),
        "error": job.error,
        "lease_owner": job.lease_owner,
        "lease_expires_at": job.lease_expires_at,
        "pause_requested": job.pause_requested,
        "cancel_requested": job.cancel_requested,
    }
