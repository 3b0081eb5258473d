from __future__ import annotations

import threading
from collections import Counter

from jobs import kinds, services
from jobs.domain.job import Progress, Status
from jobs.runtime.run import JobRun, Unit
from tests.jobs.support import StartScheduler, Steps, eventually, kind, submit


def counting(ran: Counter[str]) -> kinds.Handler:
    guard = threading.Lock()

    def work(run: JobRun) -> Steps:
        with guard:
            ran[run.job.id] += 1
        yield Unit(Progress(1, 1))
        return None

    return work


async def completed(number: int) -> bool:
    return (await services.counts())[Status.COMPLETED] == number


async def test_three_hundred_jobs_run_exactly_once_on_four_workers(start_scheduler: StartScheduler) -> None:
    ran: Counter[str] = Counter()
    kinds.register(kind("work", counting(ran)))
    submitted = [(await submit("work")).id for _ in range(300)]
    await start_scheduler(max_concurrency=4)
    await eventually(lambda: completed(300))
    assert ran == Counter(submitted)


async def test_two_schedulers_that_race_for_the_same_jobs_run_none_twice(start_scheduler: StartScheduler) -> None:
    ran: Counter[str] = Counter()
    kinds.register(kind("work", counting(ran)))
    submitted = [(await submit("work")).id for _ in range(60)]
    first = await start_scheduler(max_concurrency=3)
    second = await start_scheduler(max_concurrency=3)
    await eventually(lambda: completed(60))
    assert first.worker != second.worker
    assert ran == Counter(submitted)
