from __future__ import annotations

import pytest

from jobs import services
from jobs.domain.job import Status
from jobs.errors import JobIdInvalid, JobNotFound
from palace.domain.modes import Caller, MemoryMode
from palace.errors import InvalidInput, ModeForbidden
from palace.store import Store
from tests.jobs.support import left_running, submit

READS = Caller(MemoryMode.READ_ONLY)
NOTHING = Caller(MemoryMode.DISABLED)
UNKNOWN = "8d8ac610-566d-4ef0-9c22-186b2a5ed793"


async def ids(**filters: object) -> list[str]:
    return [job.id for job in await services.list_jobs(READS, **filters)]  # type: ignore[arg-type]


async def test_jobs_are_listed_newest_first_and_all_of_them_without_a_page(palace: Store) -> None:
    jobs = [(await submit("demo", {"steps": 1})).id for _ in range(55)]
    jobs.reverse()
    assert await ids() == jobs
    assert await ids(status="queued") == jobs
    assert await ids(limit=3) == jobs[:3]
    assert await ids(limit=0) == await ids(kind="demo") == await ids(kind=" ") == jobs[:50]
    assert await ids(limit=2**32 - 1) == jobs


async def test_filters_narrow_the_list(palace: Store) -> None:
    demo, audit = await submit("demo", {"steps": 1}), await submit("audit", {"wing": None})
    running = await left_running(kind="demo")
    assert await ids(kind="audit") == [audit.id]
    assert await ids(kind="demo") == [running.id, demo.id]
    assert await ids(kind="demo", status="running") == [running.id]
    assert await ids(kind="unheard of") == []
    assert await ids(status="paused") == []


@pytest.mark.parametrize("status", ["Queued", "done", ""])
async def test_an_unknown_status_is_blamed_with_what_is_accepted(palace: Store, status: str) -> None:
    with pytest.raises(InvalidInput, match=r"status: .*queued, running, paused, completed, failed, cancelled") as refusal:
        await services.list_jobs(NOTHING, status=status)
    assert refusal.value.field == "status"


async def test_jobs_carry_their_input_so_reading_them_is_gated(palace: Store) -> None:
    job = await submit("demo", {"steps": 1})
    with pytest.raises(ModeForbidden, match="job_list"):
        await services.list_jobs(NOTHING)
    for known in (job.id, UNKNOWN):
        with pytest.raises(ModeForbidden, match="job_get"):
            await services.get_job(NOTHING, known)
    with pytest.raises(JobIdInvalid):
        await services.get_job(NOTHING, "nonsense")


async def test_one_job_is_found_by_any_spelling_of_its_id(palace: Store) -> None:
    job = await submit("demo", {"steps": 1})
    assert await services.get_job(READS, job.id.upper()) == job
    with pytest.raises(JobNotFound):
        await services.get_job(READS, UNKNOWN)


async def test_counts_name_every_status(palace: Store) -> None:
    await submit("demo", {"steps": 1})
    await left_running()
    counts = await services.counts()
    assert list(counts) == list(Status)
    assert {status: number for status, number in counts.items() if number} == {Status.QUEUED: 1, Status.RUNNING: 1}
