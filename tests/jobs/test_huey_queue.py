from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from jobs import store
from jobs.domain.job import Status
from jobs.runtime.queue import JobHuey
from jobs.runtime.run import JobRun
from palace.domain.modes import Caller
from palace.store import Store
from tests.jobs.support import job, submit


def nothing_due() -> JobRun | None:
    return None


def no_work(run: JobRun) -> None:
    raise AssertionError("nothing was claimed")


async def test_what_is_queued_through_huey_is_a_row_of_the_job_table(palace: Store) -> None:
    huey = JobHuey(nothing_due, no_work)
    await asyncio.to_thread(huey.job, "demo", {"steps": 2}, Caller(requested_by="timer"))
    (queued,) = await store.list_jobs(palace)
    assert (queued.kind, queued.params, queued.requested_by) == ("demo", {"steps": 2}, "timer")
    assert huey.pending() == []


async def test_a_dequeued_task_is_the_run_that_was_claimed(palace: Store) -> None:
    ran: list[JobRun] = []
    run = JobRun(await submit("demo", {"steps": 1}), "worker", 30)
    huey = JobHuey(lambda: run, ran.append)
    task = huey.dequeue()
    assert task is not None
    huey.execute(task)
    assert ran == [run]
    assert (await job(run.job.id)).status is Status.QUEUED


async def test_a_later_start_is_refused_since_the_table_knows_none(palace: Store) -> None:
    huey = JobHuey(nothing_due, no_work)
    with pytest.raises(ValueError, match="no later start"):
        await asyncio.to_thread(huey.job.schedule, ("demo", {}, Caller()), delay=timedelta(minutes=1))
