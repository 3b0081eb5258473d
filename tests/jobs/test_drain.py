from __future__ import annotations

import asyncio
import threading

import pytest

from jobs import kinds, services
from jobs.domain.job import Priority, Progress, Status
from jobs.handlers import demo
from jobs.runtime.run import JobRun, Unit
from jobs.runtime.scheduler import Scheduler
from palace.store import Store
from tests.jobs.support import PATIENCE_SECONDS, Gate, StartScheduler, Steps, job, kind, settled, submit


async def started() -> Scheduler:
    scheduler = Scheduler()
    await scheduler.start()
    return scheduler


@pytest.fixture
def gate(registered: None) -> Gate:
    gate = Gate(units=3)
    kinds.register(kind("gated", gate.handler))
    return gate


async def test_a_drained_job_goes_back_to_the_queue_and_the_next_daemon_continues_it(
    gate: Gate, palace: Store, start_scheduler: StartScheduler
) -> None:
    scheduler = await started()
    submitted = await submit("gated")
    await gate.under_way()
    draining = asyncio.create_task(scheduler.drain(PATIENCE_SECONDS))
    await asyncio.sleep(0)
    gate.let()
    assert await draining == 0
    waiting = await job(submitted.id)
    assert (waiting.status, waiting.checkpoint, waiting.recovery_attempts) == (Status.QUEUED, {"done": 1}, 0)
    assert waiting.lease_owner is None
    gate.let(2)
    await start_scheduler()
    completed = await settled(submitted.id)
    assert (completed.status, gate.seen, completed.attempt) == (Status.COMPLETED, [1, 2, 3], 2)


async def test_a_job_that_the_user_paused_stays_paused_through_a_drain(gate: Gate, palace: Store) -> None:
    scheduler = await started()
    submitted = await submit("gated")
    await gate.under_way()
    await services.pause(submitted.id)
    draining = asyncio.create_task(scheduler.drain(PATIENCE_SECONDS))
    gate.let()
    assert await draining == 0
    assert (await job(submitted.id)).status is Status.PAUSED


async def test_a_drain_is_bounded_and_leaves_late_jobs_to_recovery(gate: Gate, palace: Store) -> None:
    scheduler = await started()
    submitted = await submit("gated")
    await gate.under_way()
    assert await scheduler.drain(0.05) == 1
    assert (await job(submitted.id)).status is Status.RUNNING
    gate.let()
    # A late job that reaches its boundary after all is put back like the others.
    assert (await settled(submitted.id, Status.QUEUED)).checkpoint == {"done": 1}


async def test_a_draining_scheduler_claims_nothing_more(palace: Store) -> None:
    scheduler = await started()
    assert await scheduler.drain(PATIENCE_SECONDS) == 0
    submitted = await submit("demo", {"steps": 0})
    assert await scheduler._next_run() is None
    assert await job(submitted.id) == submitted


async def test_a_job_claimed_while_the_drain_begins_is_not_left_running(gate: Gate, palace: Store) -> None:
    scheduler = await started()
    gate.let(24)
    jobs = [await submit("gated") for _ in range(8)]
    assert await scheduler.drain(PATIENCE_SECONDS) == 0
    assert {(await job(found.id)).status for found in jobs} <= {Status.QUEUED, Status.COMPLETED}


async def test_no_worker_thread_outlives_a_drain(palace: Store) -> None:
    before = set(threading.enumerate())
    scheduler = await started()
    await settled((await submit("demo", {"steps": 1})).id)
    await scheduler.drain(PATIENCE_SECONDS)
    left = [thread for thread in set(threading.enumerate()) - before if not thread.name.startswith("asyncio_")]
    assert left == []


async def test_a_drain_interrupts_the_rest_of_a_demo_step(
    palace: Store, monkeypatch: pytest.MonkeyPatch, start_scheduler: StartScheduler
) -> None:
    monkeypatch.setattr(demo, "STEP_SECONDS", 3600.0)
    scheduler = await started()
    submitted = await submit("demo", {"steps": 2})
    await settled(submitted.id, Status.RUNNING)
    assert await scheduler.drain(PATIENCE_SECONDS) == 0
    assert (await job(submitted.id)).status is Status.QUEUED
    monkeypatch.setattr(demo, "STEP_SECONDS", 0.0)
    await start_scheduler()
    completed = await settled(submitted.id)
    assert (completed.status, completed.progress) == (Status.COMPLETED, Progress(2, 2, "step 2 of 2"))


async def test_one_place_is_always_left_for_jobs_that_are_not_background(start_scheduler: StartScheduler) -> None:
    running = threading.Semaphore(0)
    release = threading.Event()

    def chore(run: JobRun) -> Steps:
        running.release()
        assert release.wait(PATIENCE_SECONDS)
        yield Unit(Progress(1))
        return None

    kinds.register(kind("chore", chore, priority=Priority.BACKGROUND, background=True))
    await start_scheduler(max_concurrency=3, background_concurrency=9)
    chores = [await submit("chore") for _ in range(4)]
    for _ in range(2):
        assert await asyncio.to_thread(running.acquire, timeout=PATIENCE_SECONDS)
    assert (await settled((await submit("demo", {"steps": 0})).id)).status is Status.COMPLETED
    assert [(await job(found.id)).status for found in chores].count(Status.RUNNING) == 2
    release.set()
    for found in chores:
        assert (await settled(found.id)).status is Status.COMPLETED
