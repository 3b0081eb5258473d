from __future__ import annotations

import pytest

from jobs import kinds, services, store
from jobs.domain.job import Fail as Failure
from jobs.domain.job import Status, apply
from jobs.errors import JobContended, JobIdInvalid, JobNotFound, JobOrphaned, TransitionInvalid
from palace.clock import now
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, job, kind, left_running, settled, submit

CONTROLS = [services.pause, services.resume, services.cancel, services.retry]


@pytest.fixture
def gate(registered: None) -> Gate:
    gate = Gate(units=3)
    kinds.register(kind("gated", gate.handler))
    return gate


async def test_a_paused_job_stops_at_its_next_boundary_and_resumes_from_its_checkpoint(
    gate: Gate, start_scheduler: StartScheduler
) -> None:
    await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    await services.pause(submitted.id)
    gate.let()
    paused = await settled(submitted.id)
    assert (paused.status, paused.checkpoint, paused.progress.current) == (Status.PAUSED, {"done": 1}, 1)
    assert (paused.lease_owner, paused.lease_expires_at, paused.pause_requested) == (None, None, False)
    gate.let(2)
    await services.resume(submitted.id)
    completed = await settled(submitted.id, Status.COMPLETED)
    assert gate.seen == [1, 2, 3]
    assert (completed.result, completed.attempt, completed.recovery_attempts) == ({"units": 3}, 2, 0)


async def test_a_running_job_is_cancelled_at_its_next_boundary(gate: Gate, start_scheduler: StartScheduler) -> None:
    await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    await services.cancel(submitted.id)
    gate.let()
    cancelled = await settled(submitted.id)
    assert (cancelled.status, gate.seen) == (Status.CANCELLED, [1])
    assert cancelled.completed_at is not None
    assert gate.closed.is_set()


async def test_a_cancel_that_follows_a_pause_wins(gate: Gate, start_scheduler: StartScheduler) -> None:
    await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    await services.pause(submitted.id)
    await services.cancel(submitted.id)
    gate.let()
    assert (await settled(submitted.id)).status is Status.CANCELLED


async def test_queued_and_paused_jobs_are_cancelled_at_once(palace: Store) -> None:
    queued = await submit("demo", {"steps": 1})
    assert (await services.cancel(queued.id)).status is Status.CANCELLED
    paused = await submit("demo", {"steps": 1})
    await palace.query("UPDATE type::record('job', $id) SET status = 'paused'", id=paused.id)
    assert (await services.cancel(paused.id)).status is Status.CANCELLED
    assert {(await job(found.id)).status for found in (queued, paused)} == {Status.CANCELLED}


async def test_a_failed_job_is_retried_with_its_checkpoint(palace: Store) -> None:
    running = await left_running(checkpoint={"done": 2}, recovery_attempts=3)
    await store.transition(palace, running, apply(running, Failure("broken"), now()), now())
    again = await services.retry(running.id)
    assert (again.status, again.error, again.completed_at) == (Status.QUEUED, None, None)
    assert (await job(running.id)).checkpoint == {"done": 2}


async def test_a_retried_job_runs_at_once(gate: Gate, start_scheduler: StartScheduler) -> None:
    """The workers are told; they need not poll."""
    await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    await services.pause(submitted.id)
    gate.let(3)
    await settled(submitted.id, Status.PAUSED)
    await services.resume(submitted.id)
    await gate.under_way()
    await settled(submitted.id, Status.COMPLETED)


@pytest.mark.parametrize("control", [services.pause, services.resume, services.retry])
async def test_a_queued_job_refuses_what_its_status_does_not_allow(palace: Store, control: object) -> None:
    queued = await submit("demo", {"steps": 1})
    with pytest.raises(TransitionInvalid, match="queued"):
        await control(queued.id)  # type: ignore[operator]
    assert await job(queued.id) == queued


async def test_a_completed_job_cannot_be_cancelled(start_scheduler: StartScheduler) -> None:
    await start_scheduler()
    done = await settled((await submit("demo", {"steps": 0})).id)
    with pytest.raises(TransitionInvalid, match="completed"):
        await services.cancel(done.id)


@pytest.mark.parametrize("control", CONTROLS)
async def test_ids_are_checked_before_the_store_is_asked(palace: Store, control: object) -> None:
    with pytest.raises(JobIdInvalid, match="nonsense"):
        await control("nonsense")  # type: ignore[operator]
    with pytest.raises(JobNotFound):
        await control("8d8ac610-566d-4ef0-9c22-186b2a5ed793")  # type: ignore[operator]


@pytest.mark.parametrize("control", [services.pause, services.cancel])
async def test_a_job_whose_worker_gives_no_sign_of_life_is_orphaned(palace: Store, control: object) -> None:
    orphan = await left_running(expires_in=-1)
    with pytest.raises(JobOrphaned, match="deadbeef"):
        await control(orphan.id)  # type: ignore[operator]
    assert await job(orphan.id) == orphan


@pytest.mark.parametrize("control", [services.pause, services.cancel])
async def test_a_request_for_a_job_of_another_daemon_is_stored_with_it(palace: Store, control: object) -> None:
    elsewhere = await left_running()
    asked = await control(elsewhere.id)  # type: ignore[operator]
    assert asked == await job(elsewhere.id)
    assert (asked.pause_requested, asked.cancel_requested) == (control is services.pause, control is services.cancel)
    assert asked.status is Status.RUNNING


async def test_a_job_that_keeps_changing_is_left_alone(palace: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    queued = await submit("demo", {"steps": 1})
    tries = 0

    async def changed(*_: object) -> None:
        nonlocal tries
        tries += 1
        raise store.JobChanged

    monkeypatch.setattr(store, "transition", changed)
    with pytest.raises(JobContended):
        await services.cancel(queued.id)
    assert tries == 5


async def test_a_control_request_starts_again_when_the_job_changed_meanwhile(
    gate: Gate, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cancel was aimed at a queued job, which a worker claimed before the write."""
    queued = await submit("gated")
    real, blocked = store.transition, [True]

    async def claimed_in_between(*arguments: object, **options: object) -> None:
        if blocked:
            blocked.clear()
            await start_scheduler()
            await gate.under_way()
        await real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "transition", claimed_in_between)
    asked = await services.cancel(queued.id)
    assert (asked.status, asked.cancel_requested) == (Status.RUNNING, True)
    gate.let()
    assert (await settled(queued.id)).status is Status.CANCELLED
