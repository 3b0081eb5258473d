from __future__ import annotations

import logging
from typing import Any

import pytest

from jobs import kinds
from jobs.runtime.run import JobRun
from palace.errors import FileFailed
from tests.jobs.support import StartScheduler, Steps, kind, settled, submit


async def test_the_life_of_a_job_can_be_read_from_the_log(
    start_scheduler: StartScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(run: JobRun) -> Steps:
        raise FileFailed("cannot be read")

    caplog.set_level(logging.INFO, "memcastle.jobs")
    kinds.register(kind("failing", failing))
    scheduler = await start_scheduler()
    done = await settled((await submit("demo", {"steps": 0})).id)
    failed = await settled((await submit("failing")).id)
    await scheduler.drain(5)
    lines: dict[str, list[tuple[str, dict[str, Any]]]] = {done.id: [], failed.id: []}
    for record in caplog.records:
        lines.get(getattr(record, "job_id", ""), []).append((record.getMessage(), vars(record)))
    assert [text for text, _ in lines[done.id]] == ["job queued", "job claimed by worker", "job started", "job completed"]
    assert [text for text, _ in lines[failed.id]][-1] == "job failed"
    queued, claimed, _, completed = (values for _, values in lines[done.id])
    assert (queued["job_type"], queued["priority"], queued["requested_by"]) == ("demo", 50, "test")
    assert (claimed["attempt"], claimed["worker_id"]) == (1, scheduler.worker)
    assert completed["elapsed_ms"] >= 0
    failure = lines[failed.id][-1][1]
    assert (failure["error"], failure["attempt"]) == ("cannot be read", 1)
