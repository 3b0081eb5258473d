"""Running jobs whose worker gives no sign of life are taken up while a daemon runs, and at its start."""

from __future__ import annotations

import pytest

from jobs import kinds, services, store
from jobs.domain.job import Status
from jobs.runtime.recovery import reap
from jobs.runtime.scheduler import Scheduler
from palace.domain.modes import Caller
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, eventually, job, kind, left_running, settled, submit


async def test_a_job_with_an_expired_lease_is_taken_up(start_scheduler: StartScheduler) -> None:
    gate = Gate(units=2)
    gate.let(2)
    kinds.register(kind("gated", gate.handler))
    await start_scheduler(lease_ttl_secs=1)
    lost = await left_running(kind="gated", expires_in=0.5, checkpoint={"done": 1})
    ended = await settled(lost.id)
    assert (ended.status, ended.attempt, ended.recovery_attempts, gate.seen) == (Status.COMPLETED, 2, 1, [2])
    log = await services.job_log(Caller(), lost.id)
    assert "gave no sign of life" in str(next(entry for entry in log if entry.event == "requeued").reason)


async def test_a_lease_that_holds_is_left_alone(palace: Store) -> None:
    held = await left_running(expires_in=60)
    assert await reap(()) == 0
    assert await job(held.id) == held


async def test_a_running_job_without_a_lease_is_taken_up(palace: Store) -> None:
    broken = await left_running(lease_expires_at=None)
    assert await reap(()) == 1
    assert (await job(broken.id)).status is Status.QUEUED


async def test_what_this_daemon_runs_is_not_taken_from_it(palace: Store) -> None:
    """Its lease may have run out while the whole machine slept; the next beat renews it."""
    late = await left_running(expires_in=-1)
    assert await reap({late.id}) == 0
    assert await job(late.id) == late


async def test_a_lease_renewed_in_the_meantime_is_respected(palace: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    late = await left_running(expires_in=-1)
    real = store.transition

    async def renewed_first(*arguments: object, **options: object) -> None:
        await palace.query("UPDATE type::record('job', $id) SET lease_expires_at = '2999'", id=late.id)
        await real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "transition", renewed_first)
    assert await reap(()) == 0
    assert (await job(late.id)).status is Status.RUNNING


async def test_requests_are_honoured_and_cost_nothing(palace: Store) -> None:
    paused = await left_running(expires_in=-1, pause_requested=True)
    cancelled = await left_running(expires_in=-1, pause_requested=True, cancel_requested=True)
    assert await reap(()) == 2
    for lost, status in ((paused, Status.PAUSED), (cancelled, Status.CANCELLED)):
        found = await job(lost.id)
        assert (found.status, found.recovery_attempts, found.lease_owner) == (status, 0, None)


async def test_a_start_takes_up_its_own_jobs_whatever_their_lease_says(palace: Store) -> None:
    own, elsewhere = await left_running(), await left_running(lease_shared=True)
    expired = await left_running(lease_shared=True, expires_in=-1)
    assert await Scheduler().recover() == 2
    assert (await job(elsewhere.id)) == elsewhere
    for taken in (own, expired):
        assert (await job(taken.id)).status is Status.QUEUED


async def test_a_start_on_a_shared_palace_takes_up_expired_leases_only(palace: Store) -> None:
    palace.shared = True
    living, dead = await left_running(), await left_running(expires_in=-1)
    assert await Scheduler().recover() == 1
    assert (await job(living.id)).status is Status.RUNNING
    assert (await job(dead.id)).status is Status.QUEUED


async def test_a_job_claimed_on_a_shared_palace_says_so(palace: Store, start_scheduler: StartScheduler) -> None:
    gate = Gate(units=1)
    kinds.register(kind("gated", gate.handler))
    palace.shared = True
    await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    assert (await job(submitted.id)).lease_shared
    gate.let()
    assert not (await settled(submitted.id)).lease_shared


async def test_a_job_whose_thread_died_is_taken_up(palace: Store, start_scheduler: StartScheduler) -> None:
    gate = Gate(units=2)
    kinds.register(kind("gated", gate.handler))
    scheduler = await start_scheduler(lease_ttl_secs=1)
    submitted = await submit("gated")
    await gate.under_way()
    # As if the thread had ended without a word.
    scheduler.runs[submitted.id].thread = type("Dead", (), {"is_alive": lambda self: False})()

    async def taken_up() -> bool:
        return (await job(submitted.id)).recovery_attempts == 1

    await eventually(taken_up)
    gate.let(4)
    assert (await settled(submitted.id)).status is Status.COMPLETED
