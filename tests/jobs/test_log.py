from __future__ import annotations

import pytest

from jobs import kinds, services
from jobs.domain.job import Status
from jobs.errors import JobIdInvalid, JobNotFound, TransitionInvalid
from jobs.runtime.scheduler import Scheduler
from palace.domain.modes import Caller, MemoryMode
from palace.errors import ModeForbidden
from palace.store import Store
from tests.jobs.support import DEAD_WORKER, Gate, StartScheduler, kind, left_running, settled, submit

READS = Caller(MemoryMode.READ_ONLY)


async def events(job_id: str) -> list[str]:
    return [entry.event for entry in await services.job_log(READS, job_id)]


async def test_everything_that_happens_to_a_job_is_in_its_log(palace: Store, start_scheduler: StartScheduler) -> None:
    gate = Gate(units=3)
    kinds.register(kind("gated", gate.handler))
    scheduler = await start_scheduler()
    job = await submit("gated")
    await gate.under_way()
    await services.pause(job.id)
    gate.let()
    await settled(job.id, Status.PAUSED)
    await services.resume(job.id)
    gate.let(2)
    done = await settled(job.id, Status.COMPLETED)

    log = await services.job_log(READS, job.id)
    assert [(entry.event, entry.before, entry.after) for entry in log] == [
        ("created", None, "queued"),
        ("claimed", "queued", "running"),
        ("pause_requested", "running", "running"),
        ("paused", "running", "paused"),
        ("resumed", "paused", "queued"),
        ("claimed", "queued", "running"),
        ("completed", "running", "completed"),
    ]
    held = ["claimed", "pause_requested", "paused", "completed"]
    assert {entry.worker for entry in log if entry.event in held} == {scheduler.worker}
    assert {entry.worker for entry in log if entry.event not in held} == {None}
    assert [log[0].at, log[1].at, log[-1].at] == [done.created_at, done.started_at, done.completed_at]
    assert [entry.at for entry in log] == sorted(entry.at for entry in log)


async def test_a_failure_and_a_retry_are_told_with_the_reason(palace: Store, start_scheduler: StartScheduler) -> None:
    kinds.register(kind("broken", lambda run: (_ for _ in ()).throw(OSError("no disk"))))
    await start_scheduler()
    job = await submit("broken")
    failed = await settled(job.id, Status.FAILED)
    log = await services.job_log(READS, job.id)
    assert (log[-1].event, log[-1].reason) == ("failed", failed.error)
    await services.retry(job.id)
    await settled(job.id, Status.FAILED)
    assert (await events(job.id))[2:] == ["failed", "retried", "claimed", "failed"]


async def test_a_crash_is_told_with_the_worker_that_died(palace: Store) -> None:
    crashed = await left_running()
    await Scheduler().recover()
    entry = (await services.job_log(READS, crashed.id))[-1]
    assert (entry.event, entry.before, entry.after, entry.worker) == ("requeued", "running", "queued", DEAD_WORKER)
    assert entry.reason


async def test_what_was_refused_is_not_in_the_log(palace: Store) -> None:
    job = await submit("demo", {"steps": 1})
    await services.cancel(job.id)
    with pytest.raises(TransitionInvalid):
        await services.cancel(job.id)
    assert await events(job.id) == ["created", "cancelled"]


async def test_the_log_is_read_like_the_job(palace: Store) -> None:
    job = await submit("demo", {"steps": 1})
    with pytest.raises(ModeForbidden, match="job_get"):
        await services.job_log(Caller(MemoryMode.DISABLED), job.id)
    with pytest.raises(JobIdInvalid):
        await services.job_log(READS, "nonsense")
    with pytest.raises(JobNotFound):
        await services.job_log(READS, "8d8ac610-566d-4ef0-9c22-186b2a5ed793")
