from __future__ import annotations

import asyncio

from jobs import kinds, services
from jobs.domain.job import Status
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, job, kind, settled, submit


async def test_submissions_of_one_key_join_the_job_that_waits(palace: Store) -> None:
    first = await submit("demo", {"steps": 1}, coalesce="sweep")
    assert (await submit("demo", {"steps": 1}, coalesce="sweep")).id == first.id
    assert (await submit("demo", {"steps": 1}, coalesce="another")).id != first.id
    assert (await submit("demo", {"steps": 1})).id != first.id


async def test_many_submissions_at_once_make_one_job(palace: Store) -> None:
    jobs = await asyncio.gather(*(submit("demo", {"steps": 1}, coalesce="sweep") for _ in range(20)))
    assert len({job.id for job in jobs}) == 1
    assert (await services.counts())[Status.QUEUED] == 1


async def test_a_job_that_has_started_is_joined_no_more(palace: Store, start_scheduler: StartScheduler) -> None:
    """What changed after a sweep began may be behind it, so another one is needed."""
    gate = Gate(units=1)
    kinds.register(kind("sweep", gate.handler))
    await start_scheduler(max_concurrency=1)
    running = await submit("sweep", coalesce="sweep")
    await gate.under_way()
    waiting = await submit("sweep", coalesce="sweep")
    assert waiting.id != running.id
    assert (await submit("sweep", coalesce="sweep")).id == waiting.id

    # The first one goes back to the queue beside the one that waits.
    await services.pause(running.id)
    gate.let()
    assert (await settled(running.id)).status in (Status.PAUSED, Status.COMPLETED)
    gate.let()
    await settled(waiting.id, Status.COMPLETED)
    if (await job(running.id)).status is Status.PAUSED:
        await services.resume(running.id)
        gate.let()
        await settled(running.id, Status.COMPLETED)


async def test_a_cancelled_job_is_joined_no_more(palace: Store) -> None:
    first = await submit("demo", {"steps": 1}, coalesce="sweep")
    await services.cancel(first.id)
    assert (await submit("demo", {"steps": 1}, coalesce="sweep")).id != first.id


async def test_a_paused_job_resumes_beside_one_that_waits(palace: Store, start_scheduler: StartScheduler) -> None:
    gate = Gate(units=2)
    kinds.register(kind("sweep", gate.handler))
    scheduler = await start_scheduler(max_concurrency=1)
    first = await submit("sweep", coalesce="sweep")
    await gate.under_way()
    await services.pause(first.id)
    gate.let()
    await settled(first.id, Status.PAUSED)
    assert await scheduler.drain(20) == 0
    second = await submit("sweep", coalesce="sweep")
    await services.resume(first.id)
    assert {(await job(first.id)).status, (await job(second.id)).status} == {Status.QUEUED}
