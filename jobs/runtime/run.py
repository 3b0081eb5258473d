"""A job while a worker of this process runs it: what handlers work with, and who runs what at the moment."""

from __future__ import annotations

import threading
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from jobs import store
from jobs.domain.job import Job, Progress
from palace import clock
from palace.domain.clock import Timestamp, add_seconds
from palace.store import Fragment, on_loop

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work that a handler has done. Between units, and only there, a job stops."""

    progress: Progress
    checkpoint: Mapping[str, Any] | None = None
    """Where a later run continues; None leaves the old one, as a kind does that starts again from nothing."""
    saved: bool = False
    """Whether the handler saved progress and checkpoint itself, with `JobRun.checkpoint_fragment` in its own transaction."""


class JobRun:
    """One run of a job. Handlers use it from their worker's thread; all of it may be called from any thread."""

    def __init__(self, job: Job, worker: str, lease_seconds: float) -> None:
        self.job = job
        """The job as it was claimed."""
        self.worker = worker
        self._lease_seconds = lease_seconds
        self._attention = threading.Event()
        self._interrupted = False
        self._lost = False

    def now(self) -> Timestamp:
        """The present instant."""
        return clock.now()

    def call(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        """Runs a coroutine on the palace's loop and waits for its answer."""
        return on_loop(coroutine)

    def wait(self, seconds: float) -> None:
        """Does nothing for that long; returns at once when the run should stop, which the next unit will do."""
        self._attention.wait(seconds)

    def lease_from(self, now: Timestamp) -> Timestamp:
        """When a lease that is renewed at that instant will expire."""
        return add_seconds(now, self._lease_seconds)

    def checkpoint_fragment(self, checkpoint: Mapping[str, Any], progress: Progress) -> Fragment:
        """Saves both, and says so in the outbox, in the transaction that the fragment is joined to.

        That transaction is refused with the reason `jobs.store.LEASE_LOST` when the job belongs to another worker.
        """
        now = self.now()
        return store.checkpoint_fragment(self.job, self.worker, checkpoint, progress, now, self.lease_from(now))

    def notice(self) -> None:
        """Ends a wait, since something was asked of the job; the row says what."""
        self._attention.set()

    def interrupt(self) -> None:
        """The daemon stops: the job goes back to the queue at its next unit."""
        self._interrupted = True
        self.notice()

    def lose(self) -> None:
        """The lease is gone: the run is dropped at its next unit."""
        self._lost = True
        self.notice()

    @property
    def interrupted(self) -> bool:
        return self._interrupted

    @property
    def lost(self) -> bool:
        return self._lost


_runs: dict[str, JobRun] = {}


def started(run: JobRun) -> None:
    """Records that a worker of this process runs the job."""
    _runs[run.job.id] = run


def ended(run: JobRun) -> None:
    """Forgets the run."""
    if _runs.get(run.job.id) is run:
        del _runs[run.job.id]


def run_of(job: Job) -> JobRun | None:
    """The run that holds the job's lease, when it is one of this process."""
    run = _runs.get(job.id)
    return run if run is not None and run.worker == job.lease_owner else None
