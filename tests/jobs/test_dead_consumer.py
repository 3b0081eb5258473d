"""Whatever of the scheduler dies is started again, and health says so meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jobs import kinds, store
from jobs.domain.job import Status
from jobs.runtime import health as module
from jobs.runtime.health import health
from palace.errors import StoreFailed
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, eventually, job, kind, settled, submit


async def healthy() -> bool:
    return not (await health()).problems


async def test_an_idle_scheduler_is_healthy(start_scheduler: StartScheduler) -> None:
    await start_scheduler()
    await eventually(healthy)
    found = await health()
    assert (found.configured, found.alive, found.busy, found.restarts) == (4, 4, 0, 0)
    assert found.oldest_queued_secs is None


async def test_without_a_scheduler_nothing_is_healthy(palace: Store) -> None:
    assert (await health()).problems == ("no scheduler runs in this process",)


async def test_dead_worker_threads_are_replaced(start_scheduler: StartScheduler) -> None:
    scheduler = await start_scheduler()
    assert scheduler.consumer is not None
    first = [thread for _, thread in scheduler.consumer.worker_threads]
    for worker, _ in scheduler.consumer.worker_threads:
        worker.retired = True
    # Each thread ends when it comes back from the task it waits for.
    for _ in first:
        await submit("demo", {"steps": 0})
    await eventually(lambda: _is(lambda: scheduler.consumer.restarts == 4))  # type: ignore[union-attr]
    assert (await settled((await submit("demo", {"steps": 0})).id)).status is Status.COMPLETED
    await eventually(healthy)
    found = await health()
    assert (found.alive, found.restarts) == (4, 4)
    assert not any(thread.is_alive() for thread in first)


async def test_dead_threads_are_a_problem(start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = await start_scheduler()
    monkeypatch.setattr(type(scheduler.consumer), "alive", property(lambda self: 0))
    assert "no worker thread is alive" in (await health()).problems
    monkeypatch.setattr(type(scheduler.consumer), "alive", property(lambda self: 3))
    assert "1 worker threads have died" in (await health()).problems


async def test_a_store_that_gives_no_jobs_is_a_problem(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start_scheduler()

    async def failing(*_: Any, **__: Any) -> Any:
        raise StoreFailed("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(store, "claim", failing)
        await submit("demo", {"steps": 0})
        await eventually(lambda: _has_problem("no job can be claimed: the disk is full"))
    await eventually(healthy)


async def test_workers_that_do_not_look_are_a_problem(start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    """The web side is well, the processes live, and nothing is done: the fault that stays unseen for weeks."""
    monkeypatch.setattr(module, "LATE_LOOK_SECONDS", 0.5)
    scheduler = await start_scheduler()
    await eventually(healthy)
    released = asyncio.Event()

    async def hanging() -> None:
        await released.wait()

    with monkeypatch.context() as hung:
        hung.setattr(scheduler, "_claim", hanging)
        scheduler._wake.set()
        await eventually(lambda: _has_problem("no worker has looked for a job"))
    released.set()
    await eventually(healthy)


async def test_busy_workers_need_not_look(start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LATE_LOOK_SECONDS", 1.5)
    gate = Gate(units=1)
    kinds.register(kind("gated", gate.handler))
    await start_scheduler(max_concurrency=1)
    await submit("gated")
    await gate.under_way()
    waiting = await submit("demo", {"steps": 0})
    for _ in range(3):
        await eventually(healthy)
    gate.let()
    assert (await settled(waiting.id)).status is Status.COMPLETED


async def test_a_heartbeat_that_breaks_is_started_again(
    start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(units=1)
    kinds.register(kind("gated", gate.handler))
    scheduler = await start_scheduler(lease_ttl_secs=1)
    submitted = await submit("gated")
    await gate.under_way()

    def broken(*_: Any) -> None:
        raise ArithmeticError

    with monkeypatch.context() as patched:
        patched.setattr(scheduler.leases, "_settle", broken)
        await eventually(lambda: _is(lambda: scheduler.restarts >= 1))
    await eventually(healthy)
    assert (await health()).restarts >= 1
    gate.let()
    assert (await settled(submitted.id)).attempt == 1


async def test_the_age_of_the_queue_is_told(palace: Store, start_scheduler: StartScheduler) -> None:
    gate = Gate(units=1)
    kinds.register(kind("gated", gate.handler))
    await start_scheduler(max_concurrency=1)
    await submit("gated")
    await gate.under_way()
    waiting = await submit("demo", {"steps": 0})
    await palace.query("UPDATE type::record('job', $id) SET created_at = '2026-01-01T00:00:00.000000000Z'", id=waiting.id)
    assert ((await health()).oldest_queued_secs or 0) > 86_400
    gate.let()
    await settled(waiting.id)
    assert (await health()).oldest_queued_secs is None


async def _is(condition: Any) -> bool:
    return bool(condition())


async def _has_problem(text: str) -> bool:
    return any(problem.startswith(text) for problem in (await health()).problems)


async def test_a_step_that_never_ends_is_a_problem_while_others_wait(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every thread lives, and the queue does not move."""
    monkeypatch.setattr(module, "LATE_UNIT_SECONDS", 0.2)
    gate = Gate(units=2)
    kinds.register(kind("gated", gate.handler))
    await start_scheduler(max_concurrency=1)
    running = await submit("gated")
    await gate.under_way()
    await asyncio.sleep(0.3)
    assert await healthy()
    waiting = await submit("demo", {"steps": 0})
    await palace.query("UPDATE type::record('job', $id) SET created_at = '2026-01-01T00:00:00.000000000Z'", id=waiting.id)
    await eventually(lambda: _has_problem(f"job {running.id} has been at one step for"))
    gate.let(2)
    assert (await settled(waiting.id)).status is Status.COMPLETED
    await eventually(healthy)


async def test_a_report_on_a_store_that_hangs_does_not_hang(
    start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start_scheduler()

    async def hanging(*_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()

    with monkeypatch.context() as hung:
        hung.setattr(store, "oldest_queued", hanging)
        hung.setattr(module, "ASK_SECONDS", 0.1)
        assert (await health()).oldest_queued_secs is None


async def test_nothing_is_claimed_while_leases_cannot_be_kept(
    start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = await start_scheduler(lease_ttl_secs=1)

    async def failing(*_: Any, **__: Any) -> Any:
        raise StoreFailed("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(store, "renew_leases", failing)
        await eventually(lambda: _has_problem("leases could not be renewed"))
        submitted = await submit("demo", {"steps": 0})
        assert await scheduler._claim() is None
        assert (await job(submitted.id)).status is Status.QUEUED
    assert (await settled(submitted.id)).status is Status.COMPLETED
