"""A run that comes to no boundary is broken off, and nothing beside it."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from jobs import kinds, services, store
from jobs.domain.job import Complete, Job, Pause, Progress, Status
from jobs.errors import JobOrphaned, TransitionInvalid
from jobs.runtime import force_cancel as module
from jobs.runtime.driver import Dropped, Outcome, drive
from jobs.runtime.force_cancel import force_cancel
from jobs.runtime.run import JobRun, Unit
from palace.clock import now
from palace.errors import StoreFailed
from palace.store import Store
from tests.jobs.support import PATIENCE_SECONDS, StartScheduler, Steps, job, kind, left_running, settled, submit

FOR_EVER = 600.0


def register(handler: kinds.Handler) -> None:
    kinds.register(replace(kind("forcible", handler), can_be_forced=True))


class Stuck:
    """A handler whose second unit waits for something that does not come."""

    def __init__(self, wait: Any) -> None:
        self._wait = wait
        self.entered = threading.Event()
        self.left = threading.Event()

    def handler(self, run: JobRun) -> Steps:
        try:
            yield Unit(Progress(1, 2), {"done": 1})
            self.entered.set()
            self._wait(run)
            yield Unit(Progress(2, 2), {"done": 2})
            return None
        finally:
            self.left.set()

    async def started(self) -> Job:
        """A job whose run is stuck."""
        register(self.handler)
        submitted = await submit("forcible", exclusive="key")
        assert await asyncio.to_thread(self.entered.wait, PATIENCE_SECONDS)
        return await job(submitted.id)


def in_the_database(run: JobRun) -> None:
    run.call(asyncio.sleep(FOR_EVER))


def in_a_wait(run: JobRun) -> None:
    run.wait(FOR_EVER)


def in_python(run: JobRun) -> None:
    until = time.monotonic() + FOR_EVER
    while time.monotonic() < until:
        pass


def in_a_handler_that_catches_everything(run: JobRun) -> None:
    try:
        run.call(asyncio.sleep(FOR_EVER))
    except Exception:
        run.call(asyncio.sleep(FOR_EVER))


@pytest.mark.parametrize("way", [in_the_database, in_a_wait, in_python, in_a_handler_that_catches_everything])
async def test_wherever_its_code_is_the_run_ends_and_its_thread_works_on(start_scheduler: StartScheduler, way: Any) -> None:
    scheduler = await start_scheduler(max_concurrency=1)
    stuck = Stuck(way)
    running = await stuck.started()
    cancelled = await force_cancel(running)
    assert cancelled == await job(running.id)
    assert (cancelled.status, cancelled.error, cancelled.checkpoint) == (Status.CANCELLED, None, {"done": 1})
    assert stuck.left.is_set()
    assert scheduler.consumer is not None
    (before,) = scheduler.consumer.worker_threads
    # The one worker and the key are free again.
    assert (await settled((await submit("demo", {"steps": 0}, exclusive="key")).id)).status is Status.COMPLETED
    assert scheduler.consumer.worker_threads == [before]


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns so often that they meet anywhere."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


async def test_the_exception_never_leaves_the_run(palace: Store, hasty: None) -> None:
    """It is sent at any moment, also when the handler has just ended, and must not meet the worker's own code."""

    def brief(run: JobRun) -> Steps:
        until = time.monotonic() + 0.001
        while time.monotonic() < until:
            pass
        return None
        yield

    register(brief)
    running = await left_running(kind="forcible")
    outcomes = {type(abandoned_after(JobRun(running, "worker", 30), delay / 150_000)) for delay in range(300)}
    assert outcomes == {Dropped, Complete}


def abandoned_after(run: JobRun, seconds: float) -> Outcome:
    """How a run ended that was abandoned after so long a time."""
    ended: list[Outcome] = []

    def work() -> None:
        outcome = drive(run)
        for _ in range(2000):
            pass
        ended.append(outcome)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(seconds)
    run.abandon()
    thread.join(PATIENCE_SECONDS)
    assert len(ended) == 1, "the exception came out of the run"
    return ended[0]


async def test_a_run_abandoned_before_its_thread_begins_does_nothing(palace: Store) -> None:
    begun = threading.Event()

    def handler(run: JobRun) -> Steps:
        begun.set()
        yield Unit(Progress(1))
        return None

    register(handler)
    run = JobRun(await left_running(kind="forcible"), "worker", 30)
    run.abandon()
    assert isinstance(await asyncio.to_thread(drive, run), Dropped)
    assert not begun.is_set()


async def test_a_job_of_another_daemon_is_left_to_it(palace: Store) -> None:
    register(Stuck(in_a_wait).handler)
    elsewhere = await left_running(kind="forcible", worker="another")
    with pytest.raises(JobOrphaned, match="another") as refusal:
        await force_cancel(elsewhere)
    assert "job cancel" in refusal.value.help
    assert await job(elsewhere.id) == elsewhere


async def test_what_does_not_run_cannot_be_forced(palace: Store) -> None:
    register(Stuck(in_a_wait).handler)
    waiting = await submit("forcible")
    with pytest.raises(TransitionInvalid, match="queued"):
        await force_cancel(waiting)
    assert await job(waiting.id) == waiting


async def test_a_pause_that_is_asked_for_meanwhile_does_not_stop_it(
    start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start_scheduler()
    running = await Stuck(in_a_wait).started()
    real = store.request_stop

    async def and_a_pause(palace: Store, asked: Job, *arguments: Any, **options: Any) -> Job:
        cancelling = await real(palace, asked, *arguments, **options)
        await real(palace, cancelling, Pause(), now())
        return cancelling

    monkeypatch.setattr(store, "request_stop", and_a_pause)
    assert (await force_cancel(running)).status is Status.CANCELLED
    assert (await job(running.id)).status is Status.CANCELLED


async def test_a_cancellation_that_cannot_be_stored_is_made_up_for(
    start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request is stored, the run is gone, and its lease is not renewed: the reaper carries the request out."""
    await start_scheduler(lease_ttl_secs=1)
    running = await Stuck(in_a_wait).started()

    async def failing(*_: Any, **__: Any) -> None:
        raise StoreFailed("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(module.store, "transition", failing)
        with pytest.raises(StoreFailed):
            await force_cancel(running)
    cancelled = await settled(running.id)
    assert (cancelled.status, cancelled.recovery_attempts) == (Status.CANCELLED, 0)


async def test_the_service_says_what_became_of_a_job_that_ended_by_itself(start_scheduler: StartScheduler) -> None:
    await start_scheduler()
    done = await submit("demo", {"steps": 0})
    await settled(done.id)
    with pytest.raises(TransitionInvalid, match="completed"):
        await services.force_cancel(done.id)
