"""Pausing, resuming, cancelling and stopping a mine at its boundaries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from jobs import services as jobs
from jobs.domain.job import Status
from jobs.runtime.scheduler import Scheduler
from memcastle_site import wiring
from mining.adapters.directory import DirectoryAdapter
from mining.domain.contract import Candidate, RawDocument, Skip, SourceRef
from palace import services as memory
from palace.errors import PalaceBusy
from palace.store import Store, on_loop
from tests.mining.support import CALLER, counts, every_drawer, filed_texts, grow_tree, mine, reached, require_order, submitted

AtDocument = Callable[[int, Callable[[], Coroutine[Any, Any, Any]]], list[str]]


@pytest.fixture
def at_document(monkeypatch: pytest.MonkeyPatch) -> AtDocument:
    """Does something when a mine reads its n-th document (from 1), once; batches are of four. Gives what is read."""
    monkeypatch.setattr("mining.sweep.BATCH_DOCUMENTS", 4)
    real = DirectoryAdapter.read

    def arrange(number: int, act: Callable[[], Coroutine[Any, Any, Any]]) -> list[str]:
        read: list[str] = []

        def watched(self: DirectoryAdapter, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
            read.append(candidate.external_id)
            if len(read) == number:
                on_loop(act())
            return real(self, ref, candidate)

        monkeypatch.setattr(DirectoryAdapter, "read", watched)
        return read

    return arrange


async def test_a_paused_mine_keeps_what_it_filed_and_resumes_without_reading_it_again(
    palace: Store, workers: Scheduler, tmp_path: Path, at_document: AtDocument
) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 20, seed=1)
    read = at_document(10, lambda: jobs.pause(job.id))
    job = await submitted(root)
    paused = await reached(job.id, Status.PAUSED)
    assert (paused.progress.current, paused.progress.total) == (12, 20)
    assert (paused.attempt, paused.recovery_attempts, paused.completed_at) == (1, 0, None)
    assert len(await filed_texts(palace, root)) == 12
    await require_order(palace)
    await jobs.resume(job.id)
    ended = await reached(job.id)
    assert (ended.status, ended.attempt) == (Status.COMPLETED, 2)
    assert counts(ended.result or {}, "documents", "filed", "unchanged") == (20, 20, 0)
    assert sorted(read) == sorted(texts)
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def test_a_cancelled_mine_keeps_what_it_filed_and_the_next_files_the_rest(
    palace: Store, workers: Scheduler, tmp_path: Path, at_document: AtDocument
) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 20, seed=2)
    at_document(6, lambda: jobs.cancel(job.id))
    job = await submitted(root)
    assert (await reached(job.id)).status is Status.CANCELLED
    filed = await filed_texts(palace, root)
    assert len(filed) == 8
    await require_order(palace)
    await mine(root)
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def test_a_drained_mine_is_queued_with_its_checkpoint_and_not_charged(
    palace: Store, tmp_path: Path, at_document: AtDocument
) -> None:
    wiring.connect()
    root = tmp_path / "tree"
    texts = grow_tree(root, 20, seed=3)
    drained: list[asyncio.Task[int]] = []

    async def stop() -> None:
        drained.append(asyncio.create_task(first.drain(20)))
        await asyncio.sleep(0)

    read = at_document(7, stop)
    first = Scheduler()
    await first.start()
    job = await submitted(root)
    queued = await until_queued_again(job.id)
    assert await drained[0] == 0
    assert (queued.attempt, queued.recovery_attempts) == (1, 0)
    assert queued.checkpoint["stats"]["documents"] == len(await filed_texts(palace, root)) == 8
    second = Scheduler()
    assert await second.recover() == 0
    await second.start()
    ended = await reached(job.id)
    assert await second.drain(20) == 0
    assert (ended.status, ended.attempt, ended.recovery_attempts) == (Status.COMPLETED, 2, 0)
    assert len(read) == 20
    assert await filed_texts(palace, root) == texts


async def until_queued_again(job_id: str) -> Any:
    async def again() -> Any:
        while (job := await jobs.get_job(CALLER, job_id)).status is not Status.QUEUED or job.attempt == 0:
            await asyncio.sleep(0.005)
        return job

    return await asyncio.wait_for(again(), 20)


@pytest.fixture
async def paused_mine(palace: Store, workers: Scheduler, tmp_path: Path, at_document: AtDocument) -> str:
    """The id of a paused mine into the wing `tree`, which holds drawers by now."""
    grow_tree(tmp_path / "tree", 12, seed=4)
    at_document(5, lambda: jobs.pause(job.id))
    job = await submitted(tmp_path / "tree")
    await reached(job.id, Status.PAUSED)
    return job.id


async def test_no_wing_or_room_is_deleted_while_a_mine_is_paused(palace: Store, paused_mine: str) -> None:
    before = await every_drawer(palace)
    with pytest.raises(PalaceBusy) as refused:
        await memory.delete_wing(CALLER, "tree")
    assert (refused.value.status, refused.value.code) == (409, "memcastle::palace::busy")
    with pytest.raises(PalaceBusy):
        await memory.delete_room(CALLER, "tree", "files")
    assert await every_drawer(palace) == before
    await jobs.cancel(paused_mine)
    assert (await memory.delete_wing(CALLER, "tree")).drawers == len(before)


async def test_no_wing_is_deleted_while_a_mine_is_queued(palace: Store, tmp_path: Path) -> None:
    wiring.connect()
    await memory.create_wing(CALLER, "old")
    job = await submitted(tmp_path)
    with pytest.raises(PalaceBusy):
        await memory.delete_wing(CALLER, "old")
    await jobs.cancel(job.id)
    assert (await memory.delete_wing(CALLER, "old")).wings == 1


async def test_no_wing_is_deleted_while_a_mine_runs(
    palace: Store, workers: Scheduler, tmp_path: Path, at_document: AtDocument
) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 12, seed=5)
    refusals: list[str] = []

    async def delete() -> None:
        try:
            await memory.delete_wing(CALLER, "tree")
        except PalaceBusy as refused:
            refusals.append(refused.message)

    at_document(9, delete)
    await mine(root)
    assert len(refusals) == 1
    assert await filed_texts(palace, root) == texts
