"""Parameters of megabytes must not be written anew with every step of their job."""

from __future__ import annotations

from typing import Any

import pytest

from jobs import services, store
from jobs.domain.job import Progress, Status
from jobs.runtime.run import JobRun
from jobs.store import records, retention
from palace.clock import now
from palace.domain.clock import add_seconds
from palace.domain.modes import Caller
from palace.store import Store
from tests.jobs.support import StartScheduler, job, settled, submit

CALLER = Caller(requested_by="test")
LARGE = {"steps": 2, "text": 'é\u2028"\\ 图' * 5_000, "nothing": None, "list": [{"a": None}, []]}


async def row_size(palace: Store, job_id: str) -> int:
    return len(str(await palace.first("SELECT * FROM type::record('job', $id);", id=job_id)))


async def test_large_parameters_come_back_as_they_went_in(palace: Store) -> None:
    large, small = await submit("demo", LARGE), await submit("demo", {"steps": 1})
    assert (await job(large.id)).params == LARGE
    assert [(found.id, found.kind) for found in await services.list_jobs(CALLER, kind="demo")] == [
        (small.id, "demo"),
        (large.id, "demo"),
    ]
    assert (await services.list_jobs(CALLER))[1].params == LARGE
    assert await palace.first("SELECT VALUE record::id(id) FROM job_params;") == [large.id]


async def test_a_run_gets_them_and_writes_a_small_row(palace: Store, start_scheduler: StartScheduler) -> None:
    large = await submit("demo", LARGE)
    assert await row_size(palace, large.id) < 2_000
    claimed = await store.claim(palace, "w", now(), add_seconds(now(), 30), allow_background=True)
    assert claimed is not None
    assert claimed.params == LARGE
    run = JobRun(claimed, "w", 30)
    await palace.transact(run.checkpoint_fragment({"step": 1}, Progress(1, 2)))
    assert await row_size(palace, large.id) < 2_000
    await palace.query("UPDATE job SET status = 'queued', lease_owner = NONE;")
    await start_scheduler()
    assert (await settled(large.id)).status is Status.COMPLETED


@pytest.mark.parametrize("characters", [records.ROW_CHARACTERS - 20, records.ROW_CHARACTERS + 20])
async def test_either_side_of_the_limit_reads_the_same(palace: Store, characters: int) -> None:
    params: dict[str, Any] = {"text": "x" * characters}
    assert (await job((await submit("demo", params)).id)).params == params


async def test_they_go_with_their_job(palace: Store) -> None:
    large = await submit("demo", LARGE)
    await services.cancel(large.id)
    assert await retention.remove_aged_jobs(palace, add_seconds(now(), 1), now()) == 1
    assert await palace.first("SELECT VALUE id FROM job_params;") == []
