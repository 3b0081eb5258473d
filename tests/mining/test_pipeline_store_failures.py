"""A store that fails in the middle of a mine: the job says so, nothing is half written, and a retry goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs import services as jobs
from jobs import store as job_table
from jobs.domain.job import Status
from jobs.runtime.scheduler import Scheduler
from mining import filing
from mining.adapters.directory import DirectoryAdapter
from mining.domain.contract import Candidate, RawDocument, Skip, SourceRef
from palace.errors import StoreFailed
from palace.store import Fragment, Store, on_loop
from tests.mining.support import counts, filed_texts, grow_tree, mine, put, reached, require_order, submitted


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mining.sweep.BATCH_DOCUMENTS", 5)


async def test_a_failing_batch_fails_the_job_and_a_retry_goes_on_from_the_last_good_one(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 20, seed=1)
    real = filing.file_documents
    batches: list[int] = []

    async def failing(*arguments: object) -> None:
        batches.append(1)
        if len(batches) == 3:
            raise StoreFailed("the disk is full")
        await real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(filing, "file_documents", failing)
    job = await submitted(root)
    broken = await reached(job.id)
    assert (broken.status, broken.error) == (Status.FAILED, "the disk is full")
    assert len(await filed_texts(palace, root)) == 10
    await require_order(palace)
    await jobs.retry(job.id)
    ended = await reached(job.id, Status.COMPLETED)
    assert counts(ended.result or {}, "documents", "filed", "unchanged") == (20, 20, 0)
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def test_a_transaction_that_fails_at_its_last_statement_leaves_nothing(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 8, seed=2)
    real = Store.transact

    async def poisoned(self: Store, *fragments: Fragment, **options: Any) -> Any:
        if any("source_document" in fragment.sql for fragment in fragments):
            fragments = (*fragments, Fragment("CREATE drawer CONTENT { nonsense: true };"))
        await real(self, *fragments)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "transact", poisoned)
        job = await submitted(root)
        assert (await reached(job.id)).status is Status.FAILED
    assert await palace.first("SELECT * FROM drawer;") == []
    assert await palace.first("SELECT * FROM source_document;") == []
    assert await palace.first("SELECT VALUE sequence FROM source;") == [0]
    await jobs.retry(job.id)
    await reached(job.id, Status.COMPLETED)
    assert await filed_texts(palace, root) == texts


async def test_a_run_whose_job_went_to_another_worker_writes_nothing_more(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 15, seed=3)
    real = DirectoryAdapter.read
    read: list[str] = []

    def stolen(self: DirectoryAdapter, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
        read.append(candidate.external_id)
        if len(read) == 7:
            taken = "UPDATE job SET lease_owner = 'another';"
            on_loop(palace.query(taken))
        return real(self, ref, candidate)

    monkeypatch.setattr(DirectoryAdapter, "read", stolen)
    job = await submitted(root)
    held = await let_go(job.id, workers)
    assert (held.status, held.lease_owner) == (Status.RUNNING, "another")
    assert held.checkpoint["stats"]["documents"] == len(await filed_texts(palace, root)) == 5
    await require_order(palace)
    assert await workers.recover() == 1
    ended = await reached(job.id, Status.COMPLETED)
    assert (ended.recovery_attempts, counts(ended.result or {}, "documents")) == (1, (15,))
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def let_go(job_id: str, workers: Scheduler) -> job_table.records.Job:
    """The job once no worker of this process holds a run of it any more."""
    import asyncio

    from palace.store import current

    async with asyncio.timeout(20):
        while True:
            job = await job_table.read(current(), job_id)
            if job is not None and job.lease_owner == "another" and not workers.runs:
                return job
            await asyncio.sleep(0.005)


async def test_a_run_that_was_overtaken_by_another_of_its_source_stops_before_it_files_twice(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 15, seed=4)
    real = DirectoryAdapter.read
    read: list[str] = []

    def overtaken(self: DirectoryAdapter, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
        read.append(candidate.external_id)
        if len(read) == 7:
            on_loop(palace.query("UPDATE source SET sequence += 1;"))
        return real(self, ref, candidate)

    monkeypatch.setattr(DirectoryAdapter, "read", overtaken)
    job = await submitted(root)
    broken = await reached(job.id)
    assert broken.status is Status.FAILED
    assert "another run of" in str(broken.error)
    assert len(await filed_texts(palace, root)) == 5
    await jobs.retry(job.id)
    await reached(job.id, Status.COMPLETED)
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def test_a_lost_cursor_costs_reading_and_makes_no_duplicate(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 12, seed=5)
    await mine(root)
    await palace.query("UPDATE source SET cursor = NONE, swept = false; UPDATE source_document SET stamp = 'lost';")
    assert counts(await mine(root), "unchanged", "created", "superseded") == (12, 0, 0)
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def test_a_position_that_no_version_wrote_fails_the_job_and_full_helps(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    put(root / "a.txt", "text")
    await mine(root)
    await palace.query("UPDATE source SET cursor = { value: 'nonsense' }, swept = false;")
    broken = await reached((await submitted(root)).id)
    assert broken.status is Status.FAILED
    assert "cursor" in str(broken.error)
    assert counts(await mine(root, full=True), "unchanged") == (1,)
    assert counts(await mine(root), "unchanged") == (1,)
