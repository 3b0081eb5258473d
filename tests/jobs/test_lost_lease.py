from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from jobs import kinds, store
from jobs.domain.job import Progress, Status
from jobs.errors import LeaseLost
from jobs.runtime.run import JobRun, Unit
from palace.clock import now
from palace.domain.clock import add_seconds
from palace.errors import StoreFailed
from palace.store import Store, TransactionRefused, current
from palace.store.changes import Change, announce
from tests.jobs.support import (
    DEAD_WORKER,
    Gate,
    StartScheduler,
    Steps,
    eventually,
    job,
    kind,
    left_running,
    settled,
    submit,
)


async def given_to_another(palace: Store, job_id: str) -> None:
    await palace.query(
        "UPDATE type::record('job', $id) SET lease_owner = 'another', lease_expires_at = '2999-01-01T00:00:00.000000000Z'",
        id=job_id,
    )


async def dropped(caplog: pytest.LogCaptureFixture) -> bool:
    return any(record.getMessage() == "job dropped, its lease is lost" for record in caplog.records)


async def test_a_run_whose_job_was_taken_over_is_dropped_and_touches_nothing(
    palace: Store, start_scheduler: StartScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate()
    kinds.register(kind("gated", gate.handler))
    await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    await given_to_another(palace, submitted.id)
    before = await job(submitted.id)
    gate.let()
    await eventually(lambda: dropped(caplog))
    assert await job(submitted.id) == before
    assert gate.closed.is_set()


async def test_a_run_that_saves_in_its_own_transaction_writes_nothing_once_its_lease_is_lost(
    palace: Store, start_scheduler: StartScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate()

    async def batch(run: JobRun, number: int) -> None:
        save = run.checkpoint_fragment({"done": number}, Progress(number))
        await current().transact(save, announce(run.now(), Change("thing", "created", str(number))))

    def work(run: JobRun) -> Steps:
        for unit in gate.handler(run):
            run.call(batch(run, unit.progress.current))
            yield Unit(unit.progress, saved=True)
        return None

    kinds.register(kind("batches", work))
    await start_scheduler()
    submitted = await submit("batches")
    await gate.under_way()
    gate.let()
    await gate.under_way()
    await given_to_another(palace, submitted.id)
    gate.let()
    await eventually(lambda: dropped(caplog))
    left = await job(submitted.id)
    assert (left.status, left.lease_owner, left.checkpoint) == (Status.RUNNING, "another", {"done": 1})
    things = await palace.first("SELECT VALUE entries.id FROM change WHERE entries[0].kind = 'thing'")
    assert things == [["1"]]


async def test_every_write_of_a_run_is_fenced(palace: Store) -> None:
    running = await left_running()
    at = now()
    with pytest.raises(LeaseLost):
        await store.save_checkpoint(palace, running, "another", {}, Progress(), at, at)
    with pytest.raises(LeaseLost):
        await store.requests(palace, running, "another")
    with pytest.raises(TransactionRefused, match=store.LEASE_LOST):
        await palace.transact(store.checkpoint_fragment(running, "another", {}, Progress(), at, at))
    assert await store.renew_leases(palace, "another", [running.id], at) == {}
    assert await job(running.id) == running


async def test_an_earlier_run_of_the_same_worker_is_fenced_too(palace: Store) -> None:
    """A job that was taken away and came back to the same daemon is another run, with another claim."""
    running = await left_running(attempt=2)
    earlier = replace(running, attempt=1)
    at = now()
    with pytest.raises(LeaseLost):
        await store.save_checkpoint(palace, earlier, DEAD_WORKER, {"done": 1}, Progress(), at, at)
    with pytest.raises(LeaseLost):
        await store.requests(palace, earlier, DEAD_WORKER)
    assert await job(running.id) == running


async def test_a_heartbeat_keeps_the_leases_of_running_jobs_only(palace: Store) -> None:
    mine, other = await left_running(), await left_running(worker="another")
    waiting = await submit("demo", {"steps": 1})
    later = add_seconds(now(), 60)
    ids = [mine.id, other.id, waiting.id]
    nothing = store.Requests(pause=False, cancel=False)
    assert await store.renew_leases(palace, DEAD_WORKER, ids, later) == {mine.id: store.Renewed(1, nothing)}
    assert await store.renew_leases(palace, DEAD_WORKER, [], later) == {}
    assert (await job(mine.id)).lease_expires_at == later
    assert await job(other.id) == other
    assert await job(waiting.id) == waiting


async def test_a_heartbeat_extends_the_lease_of_a_long_unit(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(units=1)
    kinds.register(kind("gated", gate.handler))
    await start_scheduler(lease_ttl_secs=1)
    submitted = await submit("gated")
    await gate.under_way()
    first = (await job(submitted.id)).lease_expires_at

    async def renewed() -> bool:
        return str((await job(submitted.id)).lease_expires_at) > str(first)

    await eventually(renewed)
    gate.let()
    assert (await settled(submitted.id)).status is Status.COMPLETED


async def test_a_heartbeat_notices_a_lost_lease_before_the_unit_ends(
    palace: Store, start_scheduler: StartScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    """A job that only waits learns of it without another write."""

    def waits(run: JobRun) -> Steps:
        run.wait(3600)
        yield Unit(Progress(1), saved=True)
        return None

    kinds.register(kind("waits", waits))
    await start_scheduler(lease_ttl_secs=0)
    submitted = await submit("waits")
    await settled(submitted.id, Status.RUNNING)
    await given_to_another(palace, submitted.id)
    await eventually(lambda: dropped(caplog))
    assert (await job(submitted.id)).status is Status.RUNNING


async def test_a_daemon_that_cannot_renew_for_a_whole_lease_gives_its_runs_up(
    palace: Store,
    start_scheduler: StartScheduler,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def unreachable(*_: object) -> set[str]:
        raise StoreFailed("the database is away")

    def waits(run: JobRun) -> Steps:
        run.wait(3600)
        yield Unit(Progress(1))
        return None

    kinds.register(kind("waits", waits))
    monkeypatch.setattr(store, "renew_leases", unreachable)
    caplog.set_level(logging.INFO)
    await start_scheduler(lease_ttl_secs=0)
    submitted = await submit("waits")
    await settled(submitted.id, Status.RUNNING)
    await eventually(lambda: dropped(caplog))
    assert (await job(submitted.id)).status is Status.RUNNING
