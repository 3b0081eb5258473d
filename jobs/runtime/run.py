"""A job while a worker of this process runs it: what handlers work with, and who runs what at the moment."""

from __future__ import annotations

import asyncio
import ctypes
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from jobs import store
from jobs.domain.job import Job, Progress, Status
from palace import clock
from palace.domain.clock import Timestamp, add_seconds
from palace.store import Fragment, start_on_loop

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work that a handler has done. Between units, and only there, a job stops."""

    progress: Progress
    checkpoint: Mapping[str, Any] | None = None
    """Where a later run continues; None leaves the old one, as a kind does that starts again from nothing."""
    saved: bool = False
    """Whether the handler saved progress and checkpoint itself, with `JobRun.checkpoint_fragment` in its own transaction."""
    report: Mapping[str, Any] | None = None
    """What the job leaves as its result when it is cancelled here."""
    heeds_cancel: bool = True
    """Whether the job stops here when it was cancelled; a kind that leaves no trace may rather go on to its end."""


class JobRun:
    """One run of a job. Handlers use it from their worker's thread; all of it may be called from any thread."""

    def __init__(
        self, job: Job, worker: str, lease_seconds: float, on_left_behind: Callable[[JobRun], None] | None = None
    ) -> None:
        self.job = job
        """The job as it was claimed."""
        self.worker = worker
        self.claimed = self.moved = time.monotonic()
        """Monotonic times of the claim, and of the last unit that was done."""
        self.thread: threading.Thread | None = None
        """The thread that drives it, once one does."""
        self.finished = asyncio.Event()
        """Set, on the palace's loop, when no thread works for the run any more."""
        self._lease_seconds = lease_seconds
        self._attention = threading.Event()
        self._interrupted = False
        self._lost = False
        self._on_left_behind = on_left_behind
        self._guard = threading.Lock()
        self._inside = False
        self._abandoned = False
        self._answer: Future[Any] | None = None

    def now(self) -> Timestamp:
        """The present instant."""
        return clock.now()

    def call(self, coroutine: Coroutine[Any, Any, Answer]) -> Answer:
        """Runs a coroutine on the palace's loop and waits for its answer.

        Raises LeaseLost, and starts nothing, once the run is lost: what it would write is not its business any more.
        """
        with self._guard:
            if self._lost:
                coroutine.close()
                raise store.lease_lost(self.job.id, self.worker)
            self._answer = answer = start_on_loop(coroutine)
        try:
            return answer.result()
        except CancelledError:
            raise store.lease_lost(self.job.id, self.worker) from None
        finally:
            self._answer = None

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

    @contextmanager
    def driven(self) -> Iterator[None]:
        """Marks the code of the job's handler, for the length of a `with` block in the worker's thread.

        In it, and nowhere else, `Abandoned` may come out of anything.
        """
        with self._guard:
            self.thread = threading.current_thread()
            self._inside = not self._abandoned
        try:
            yield
        finally:
            with self._guard:
                self._inside = False
                # One that was sent and has not arrived yet must not arrive outside.
                _raise_in(threading.get_ident(), None)

    def abandon(self) -> None:
        """Stops the run at once: it may write nothing any more, waits for nothing, and its Python code is broken off.

        Code that is held up in a system call or a library goes on until it returns, and is broken off then.
        """
        with self._guard:
            self._lost = True
            answer = self._answer
            if self._inside and not self._abandoned and self.thread is not None and self.thread.ident is not None:
                _raise_in(self.thread.ident, Abandoned)
            self._abandoned = True
        self.notice()
        if answer is not None:
            answer.cancel()

    def leave_behind(self) -> None:
        """Goes on without the thread of an abandoned run, which does not come back. On the palace's loop."""
        if self._on_left_behind is not None:
            self._on_left_behind(self)

    def owns(self, job: Job) -> bool:
        """Whether that job, as it is stored, is run by this very run."""
        return job.status is Status.RUNNING and job.lease_owner == self.worker and job.attempt == self.job.attempt

    @property
    def interrupted(self) -> bool:
        return self._interrupted

    @property
    def lost(self) -> bool:
        return self._lost


class Abandoned(BaseException):
    """Breaks off the code of a handler whose run was abandoned. No handler may catch it for good."""


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Makes the interpreter raise `error` in that thread at its next step; None takes back what has not arrived."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None if error is None else ctypes.py_object(error))


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
    return run if run is not None and run.owns(job) else None
