"""Huey over the job table: its worker threads run what was claimed, and nothing is kept outside the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from huey.api import Huey, Task
from huey.consumer import Consumer
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


class EmbeddedConsumer(Consumer):  # type: ignore[misc]
    """Huey's worker threads inside the daemon, which keeps its signals to itself."""

    def _set_signal_handlers(self) -> None:
        pass


def consumer(huey: JobHuey, workers: int, **options: Any) -> EmbeddedConsumer:
    """A consumer of so many worker threads, not yet started."""
    return EmbeddedConsumer(huey, workers=workers, periodic=False, scheduler_interval=60, worker_type="thread", **options)
