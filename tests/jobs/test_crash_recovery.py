from __future__ import annotations

from jobs import kinds, services
from jobs.domain.job import Status
from jobs.runtime.scheduler import Scheduler
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, job, kind, left_running, settled, submit


async def test_a_job_of_a_dead_daemon_continues_from_its_checkpoint(start_scheduler: StartScheduler) -> None:
    gate = Gate(units=3)
    gate.let(3)
    kinds.register(kind("gated", gate.handler))
    crashed = await left_running(kind="gated", checkpoint={"done": 2})
    assert await Scheduler().recover() == 1
    queued = await job(crashed.id)
    assert (queued.status, queued.recovery_attempts, queued.lease_owner) == (Status.QUEUED, 1, None)
    await start_scheduler()
    completed = await settled(crashed.id)
    assert (completed.status, completed.attempt, gate.seen) == (Status.COMPLETED, 2, [3])


async def test_two_crashes_are_survived_and_the_third_fails_the_job_with_its_reason(palace: Store) -> None:
    crashed = await left_running(checkpoint={"done": 2})
    for survived in (1, 2):
        await Scheduler().recover()
        assert (await job(crashed.id)).recovery_attempts == survived
        await palace.query(
            "UPDATE type::record('job', $id) SET status = 'running', lease_owner = 'x', lease_expires_at = 'y'", id=crashed.id
        )
    await Scheduler().recover()
    failed = await job(crashed.id)
    assert (failed.status, failed.recovery_attempts, failed.checkpoint) == (Status.FAILED, 3, {"done": 2})
    assert "the crash budget is used up: the daemon died 3 times" in str(failed.error)
    assert (await services.retry(crashed.id)).status is Status.QUEUED


async def test_only_running_jobs_are_recovered(palace: Store) -> None:
    waiting = await submit("demo", {"steps": 1})
    paused = await left_running(status="paused", lease_owner=None, lease_expires_at=None)
    assert await Scheduler().recover() == 0
    assert await job(waiting.id) == waiting
    assert (await job(paused.id)).status is Status.PAUSED


async def test_a_key_held_by_a_dead_daemon_is_free_after_recovery(start_scheduler: StartScheduler) -> None:
    crashed = await left_running(kind="demo", exclusive="one", recovery_attempts=2)
    waiting = await submit("demo", {"steps": 0}, exclusive="one")
    scheduler = await start_scheduler()
    assert (await job(waiting.id)).status is Status.QUEUED
    await scheduler.recover()
    assert (await settled(waiting.id)).status is Status.COMPLETED
    assert (await job(crashed.id)).status is Status.FAILED


async def test_a_kind_that_is_no_longer_known_fails_by_name(start_scheduler: StartScheduler) -> None:
    await start_scheduler()
    stranger = await left_running(kind="forgotten")
    await Scheduler().recover()
    await submit("demo", {"steps": 0})
    failed = await settled(stranger.id)
    assert (failed.status, failed.error) == (Status.FAILED, "this daemon cannot run jobs of the kind 'forgotten'")
