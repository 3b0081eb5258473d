from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jobs import kinds, services, store
from jobs.domain.job import Progress, Status
from jobs.errors import JobNotFound
from jobs.runtime import settling
from jobs.runtime.run import JobRun, Unit
from palace.errors import FileFailed, StoreFailed
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, Steps, eventually, job, kind, settled, submit


def failing(error: BaseException) -> kinds.Handler:
    def work(run: JobRun) -> Steps:
        yield Unit(Progress(1, 2), {"done": 1})
        raise error

    return work


async def failed_with(error: BaseException, start_scheduler: StartScheduler) -> str:
    kinds.register(kind("failing", failing(error)))
    await start_scheduler()
    failed = await settled((await submit("failing")).id)
    assert (failed.status, failed.checkpoint, failed.lease_owner) == (Status.FAILED, {"done": 1}, None)
    assert failed.completed_at is not None
    return str(failed.error)


async def test_a_typed_error_fails_the_job_with_its_message(start_scheduler: StartScheduler) -> None:
    assert await failed_with(FileFailed("/data cannot be read"), start_scheduler) == "/data cannot be read"


@pytest.mark.parametrize("error", [KeyError("secret"), SystemExit(3), asyncio.CancelledError()], ids=lambda e: type(e).__name__)
async def test_any_other_error_fails_the_job_by_its_type_and_is_logged(
    start_scheduler: StartScheduler, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    message = await failed_with(error, start_scheduler)
    assert type(error).__name__ in message
    assert "secret" not in message
    assert any(record.exc_info and record.exc_info[1] is error for record in caplog.records)


async def test_a_message_that_is_no_text_is_stored_all_the_same(start_scheduler: StartScheduler) -> None:
    assert await failed_with(FileFailed("/data/\udcff"), start_scheduler) == "/data/?"


async def test_a_result_that_is_no_json_fails_the_job(start_scheduler: StartScheduler) -> None:
    def work(run: JobRun) -> Steps:
        yield Unit(Progress(1))
        return {"found": object()}

    kinds.register(kind("odd", work))
    await start_scheduler()
    assert (await settled((await submit("odd")).id)).status is Status.FAILED


async def test_a_handler_that_breaks_before_its_first_unit_fails(start_scheduler: StartScheduler) -> None:
    def work(run: JobRun) -> Steps:
        raise JobNotFound("nothing there")

    kinds.register(kind("broken", work))
    await start_scheduler()
    failed = await settled((await submit("broken")).id)
    assert (failed.status, failed.error) == (Status.FAILED, "nothing there")


async def test_a_handler_that_breaks_while_it_is_closed_does_not_undo_the_cancel(
    start_scheduler: StartScheduler, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate()

    def work(run: JobRun) -> Steps:
        try:
            yield from gate.handler(run)
        finally:
            raise RuntimeError("clean-up broke")

    kinds.register(kind("untidy", work))
    await start_scheduler()
    submitted = await submit("untidy")
    await gate.under_way()
    await services.cancel(submitted.id)
    gate.let()
    assert (await settled(submitted.id)).status is Status.CANCELLED
    assert any("while it was being closed" in record.getMessage() for record in caplog.records)


async def test_an_outcome_waits_for_a_database_that_comes_back(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "STORE_PAUSES_SECONDS", (0.0, 0.0))
    failures = [StoreFailed("away"), StoreFailed("away")]
    real = store.transition

    async def flaky(*arguments: Any, **options: Any) -> None:
        if arguments[2].status is Status.COMPLETED and failures:
            raise failures.pop()
        await real(*arguments, **options)

    monkeypatch.setattr(store, "transition", flaky)
    await start_scheduler()
    assert (await settled((await submit("demo", {"steps": 0})).id)).status is Status.COMPLETED
    assert failures == []


async def test_an_outcome_that_cannot_be_stored_leaves_the_job_to_recovery_and_the_worker_goes_on(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(settling, "STORE_PAUSES_SECONDS", (0.0, 0.0))
    real = store.transition
    unlucky = (await submit("demo", {"steps": 0})).id

    async def broken(*arguments: Any, **options: Any) -> None:
        if arguments[2].status is Status.COMPLETED and arguments[2].id == unlucky:
            raise StoreFailed("away")
        await real(*arguments, **options)

    monkeypatch.setattr(store, "transition", broken)
    scheduler = await start_scheduler(max_concurrency=1)

    async def told() -> bool:
        return any("could not be stored" in record.getMessage() for record in caplog.records)

    await eventually(told)
    assert (await job(unlucky)).status is Status.RUNNING
    assert (await settled((await submit("demo", {"steps": 0})).id)).status is Status.COMPLETED
    monkeypatch.undo()
    assert await scheduler.recover() == 1
