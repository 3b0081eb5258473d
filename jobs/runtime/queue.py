"""Huey over the job table: its worker threads run what was claimed, and nothing is kept outside the table."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from huey.api import Huey, Task
from huey.consumer import Consumer, Worker, WorkerRecycle
from huey.storage import BlackHoleStorage

from jobs import services
from jobs.runtime.run import JobRun
from palace.store import on_loop


class NoStorage(BlackHoleStorage):  # type: ignore[misc]
    """Huey's own storage, which holds nothing; a dequeue waits by itself, so workers need no pauses."""

    blocking = True


class JobHuey(Huey):  # type: ignore[misc]
    """A queue whose *enqueue* is the insert into the job table and whose *dequeue* is the claim.

    Calling `job(type, params, caller)`, in any thread but the palace's, submits a job.
    """

    def __init__(self, claim: Callable[[], JobRun | None], work: Callable[[JobRun], None]) -> None:
        super().__init__("memcastle", results=False, storage_class=NoStorage)
        self._claim = claim
        self.job = self.task(name="job")(work)

    def enqueue(self, task: Task) -> None:
        if task.eta is not None:
            raise ValueError("the job table knows no later start")
        on_loop(services.submit(*task.args))

    def dequeue(self) -> Task | None:
        run = self._claim()
        return None if run is None else self.job.s(run)


class JobWorker(Worker):  # type: ignore[misc]
    """A worker that can be told to end after the task it is at."""

    retired = False

    def loop(self, now: Any = None) -> None:
        if self.retired:
            raise WorkerRecycle
        super().loop(now)


class EmbeddedConsumer(Consumer):  # type: ignore[misc]
    """Huey's worker threads inside the daemon, which keeps its signals to itself."""

    worker_class = JobWorker
    restarts = 0
    """Threads that had died and were replaced."""

    def _set_signal_handlers(self) -> None:
        pass

    @property
    def alive(self) -> int:
        """How many worker threads live."""
        threads: list[threading.Thread] = [thread for _, thread in self.worker_threads]
        return sum(thread.is_alive() for thread in threads)

    def replace_dead(self) -> int:
        """Starts a thread for each one that died; returns how many."""
        dead: int = self.workers - self.alive
        if dead or not self.scheduler.is_alive():
            self.check_worker_health()
        self.restarts += dead
        return dead

    def leave_behind(self, thread: threading.Thread) -> None:
        """Puts a new worker into the place of that thread, which ends when it returns from its task."""
        for place, (worker, own) in enumerate(self.worker_threads):
            if own is thread:
                worker.retired = True
                successor = self._create_worker()
                process = self._create_process(successor, thread.name)
                self.worker_threads[place] = (successor, process)
                process.start()


def consumer(huey: JobHuey, workers: int, **options: Any) -> EmbeddedConsumer:
    """A consumer of so many worker threads, not yet started."""
    return EmbeddedConsumer(huey, workers=workers, periodic=False, scheduler_interval=60, worker_type="thread", **options)
