"""Whether jobs are worked on: what a daemon tells of its queue and its workers."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import Any

from jobs import store
from jobs.runtime.scheduler import POLL_SECONDS, Scheduler, scheduler
from palace.clock import now
from palace.domain.clock import NANOSECONDS, Timestamp, nanoseconds
from palace.errors import StoreFailed
from palace.store import current

LATE_LOOK_SECONDS = 5 * POLL_SECONDS
ASK_SECONDS = 2.0
"""How long the database may take to tell of the queue; a report on a daemon that hangs must not hang with it."""
LATE_UNIT_SECONDS = 600.0
"""How long a run may be at one unit while other jobs wait as long."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the queue. `problems` say in words what is wrong; none of them means that jobs are worked on."""

    oldest_queued_secs: int | None
    configured: int
    alive: int
    busy: int
    restarts: int
    last_heartbeat_at: Timestamp | None
    problems: tuple[str, ...]

    def workers(self) -> dict[str, Any]:
        """The workers as status shows them."""
        return {
            "configured": self.configured,
            "alive": self.alive,
            "busy": self.busy,
            "restarts": self.restarts,
            "last_heartbeat_at": self.last_heartbeat_at,
        }


async def health() -> Health:
    """How the queue and the workers of this daemon are. What the database does not tell is left out."""
    at = now()
    oldest = due = None
    own = scheduler()
    with contextlib.suppress(StoreFailed, TimeoutError):
        async with asyncio.timeout(ASK_SECONDS):
            oldest = await store.oldest_queued(current())
            if oldest is not None and own is not None:
                due = await store.due(current(), allow_background=own.background_allowed)
    if own is None or own.consumer is None:
        return Health(_age(oldest, at), 0, 0, 0, 0, None, ("no scheduler runs in this process",))
    problems = _problems(own, None if due is None else _age(due.created_at, at))
    if (waits := _age(oldest, at)) is not None and waits > LATE_UNIT_SECONDS:
        problems += _held_up(own, waits)
    return Health(
        _age(oldest, at),
        own.config.max_concurrency,
        own.consumer.alive,
        len(own.runs),
        own.consumer.restarts + own.restarts,
        own.watched_at,
        problems,
    )


def _problems(own: Scheduler, waits: int | None) -> tuple[str, ...]:
    """What is wrong; `waits` is the age in seconds of the job that is due, when there is one."""
    assert own.consumer is not None
    found = []
    missing = own.consumer.workers - own.consumer.alive
    if missing:
        found.append("no worker thread is alive" if missing == own.consumer.workers else f"{missing} worker threads have died")
    if own.claim_error is not None:
        found.append(f"no job can be claimed: {own.claim_error}")
    elif len(own.runs) < own.consumer.alive and (late := time.monotonic() - own.looked) > LATE_LOOK_SECONDS:
        # A job may become due late, so it is the workers' last look that tells.
        not_claimed = "" if waits is None else f"queued jobs are not claimed: one waits for {waits} s beside idle workers; "
        found.append(f"{not_claimed}no worker has looked for a job for {late:.0f} s")
    if own.leases.failing_since is not None:
        found.append(f"leases could not be renewed for {time.monotonic() - own.leases.failing_since:.0f} s")
    if own.watched_at is not None and (late := _age(own.watched_at, now()) or 0) > LATE_LOOK_SECONDS:
        found.append(f"the workers were not looked after for {late} s")
    return tuple(found)


def _held_up(own: Scheduler, waits: int) -> tuple[str, ...]:
    """Runs that hold a place, or a key, and get nowhere; `waits` is for how many seconds the oldest job has waited."""
    at = time.monotonic()
    return tuple(
        f"job {job_id} has been at one step for {at - run.moved:.0f} s, while another job waits for {waits} s"
        for job_id, run in own.runs.items()
        if at - run.moved > LATE_UNIT_SECONDS
    )


def _age(moment: Timestamp | None, at: Timestamp) -> int | None:
    """Whole seconds since then."""
    return None if moment is None else max(0, (nanoseconds(at) - nanoseconds(moment)) // NANOSECONDS)
