"""A run that loses its database is put back, not failed: the job has done nothing wrong."""

from __future__ import annotations

from jobs import kinds, services
from jobs.domain.job import Progress, Status
from jobs.runtime.run import JobRun, Unit
from palace.domain.modes import Caller
from palace.store import StoreUnreachable
from tests.jobs.support import StartScheduler, Steps, kind, settled, submit


async def test_the_job_goes_on_from_its_checkpoint_uncharged(start_scheduler: StartScheduler) -> None:
    seen: list[int] = []

    def cut_off_once(run: JobRun) -> Steps:
        for number in range(run.job.checkpoint.get("done", 0) + 1, 4):
            seen.append(number)
            if number == 2 and run.job.attempt == 1:
                raise StoreUnreachable("the connection to the database broke before it answered")
            yield Unit(Progress(number, 3), {"done": number})
        return None

    kinds.register(kind("counting", cut_off_once))
    await start_scheduler()
    job = await submit("counting")
    ended = await settled(job.id)
    assert (ended.status, ended.attempt, ended.recovery_attempts) == (Status.COMPLETED, 2, 0)
    assert seen == [1, 2, 2, 3]
    log = await services.job_log(Caller(), job.id)
    assert next(entry.reason for entry in log if entry.event == "requeued") == (
        "the connection to the database broke before it answered"
    )
