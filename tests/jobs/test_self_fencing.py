"""A daemon that cannot reach the store for a whole lease gives up what it runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jobs import kinds, store
from jobs.domain.job import Status
from palace.errors import StoreFailed
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, eventually, job, kind, settled, submit


async def test_a_run_is_given_up_after_a_lease_without_the_store(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(units=3)
    kinds.register(kind("gated", gate.handler))
    scheduler = await start_scheduler(lease_ttl_secs=1)
    submitted = await submit("gated")
    await gate.under_way()
    run = scheduler.runs[submitted.id]

    async def unreachable(*_: Any, **__: Any) -> Any:
        raise StoreFailed("the database does not answer")

    with monkeypatch.context() as cut:
        cut.setattr(store, "renew_leases", unreachable)
        await eventually(lambda: _is(lambda: scheduler.leases.failing_since is not None))
        assert not run.lost
        await eventually(lambda: _is(lambda: run.lost))
    gate.let()
    await eventually(lambda: _is(lambda: submitted.id not in scheduler.runs or scheduler.runs[submitted.id] is not run))
    # What the lost run had done since its last checkpoint is done again by the next one.
    gate.let(5)
    ended = await settled(submitted.id)
    assert (ended.status, ended.recovery_attempts) == (Status.COMPLETED, 1)
    assert scheduler.leases.failing_since is None


async def test_a_store_that_hangs_is_as_good_as_none(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(units=1)
    kinds.register(kind("gated", gate.handler))
    scheduler = await start_scheduler(lease_ttl_secs=1)
    submitted = await submit("gated")
    await gate.under_way()
    run = scheduler.runs[submitted.id]

    async def hanging(*_: Any, **__: Any) -> Any:
        await asyncio.sleep(600)

    with monkeypatch.context() as cut:
        cut.setattr(store, "renew_leases", hanging)
        await eventually(lambda: _is(lambda: run.lost))
    gate.let(2)
    assert (await settled(submitted.id)).status is Status.COMPLETED


async def test_a_short_outage_costs_nothing(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(units=1)
    kinds.register(kind("gated", gate.handler))
    await start_scheduler(lease_ttl_secs=2)
    submitted = await submit("gated")
    await gate.under_way()
    real, failures = store.renew_leases, 1

    async def failing_once(*arguments: Any, **options: Any) -> Any:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            raise StoreFailed("the database does not answer")
        return await real(*arguments, **options)

    monkeypatch.setattr(store, "renew_leases", failing_once)
    await eventually(lambda: _is(lambda: failures < 0))
    gate.let()
    ended = await settled(submitted.id)
    assert (ended.status, ended.attempt) == (Status.COMPLETED, 1)
    assert (await job(submitted.id)).recovery_attempts == 0


async def test_nothing_is_started_for_a_lost_run(palace: Store, start_scheduler: StartScheduler) -> None:
    started: list[int] = []

    async def write() -> None:
        started.append(1)

    gate = Gate(units=1)
    kinds.register(kind("gated", gate.handler))
    scheduler = await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    run = scheduler.runs[submitted.id]
    run.lose()
    with pytest.raises(store.lease_lost("", "").__class__):
        await asyncio.to_thread(run.call, write())
    assert started == []
    gate.let()


async def _is(condition: Any) -> bool:
    return bool(condition())
