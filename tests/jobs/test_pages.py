from __future__ import annotations

import pytest

from jobs import services
from jobs.errors import JobIdInvalid, JobNotFound
from palace.domain.modes import Caller
from palace.store import Store
from tests.jobs.support import left_running, submit

CALLER = Caller()


async def walked(**filters: object) -> list[str]:
    """The ids of all pages, each asked for with the last id of the one before."""
    ids: list[str] = []
    before = None
    while page := await services.list_jobs(CALLER, limit=7, before=before, **filters):  # type: ignore[arg-type]
        assert len(page) <= 7
        ids += [job.id for job in page]
        before = ids[-1]
    return ids


async def test_pages_together_are_the_whole_list(palace: Store) -> None:
    for number in range(30):
        await submit("demo" if number % 3 else "audit", {"steps": 1} if number % 3 else {"wing": None})
    everything = [job.id for job in await services.list_jobs(CALLER)]
    assert await walked() == everything
    audits = [job.id for job in await services.list_jobs(CALLER, kind="audit", limit=200)]
    assert await walked(kind="audit") == audits
    assert len(audits) == 10
    assert await walked(status="queued") == everything


async def test_jobs_of_one_instant_are_neither_lost_nor_repeated(palace: Store) -> None:
    ids = {(await left_running(created_at="2026-01-01T00:00:00.000000000Z")).id for _ in range(20)}
    found = await walked()
    assert len(found) == 20
    assert set(found) == ids
    assert found == [job.id for job in await services.list_jobs(CALLER)]


async def test_a_job_submitted_meanwhile_does_not_shift_a_page(palace: Store) -> None:
    for _ in range(10):
        await submit("demo", {"steps": 1})
    first = [job.id for job in await services.list_jobs(CALLER, limit=5)]
    rest = [job.id for job in await services.list_jobs(CALLER, before=first[-1])]
    await submit("demo", {"steps": 1})
    assert [job.id for job in await services.list_jobs(CALLER, before=first[-1])] == rest
    assert len(rest) == 5


async def test_the_page_before_needs_a_job(palace: Store) -> None:
    with pytest.raises(JobIdInvalid):
        await services.list_jobs(CALLER, before="yesterday")
    with pytest.raises(JobNotFound):
        await services.list_jobs(CALLER, before="8d8ac610-566d-4ef0-9c22-186b2a5ed793")
