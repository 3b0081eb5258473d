"""Two mines at once: of one place they become one result, of two places nothing of either is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jobs.domain.job import Status
from jobs.runtime.scheduler import Scheduler
from mining.adapters.directory import DirectoryAdapter
from mining.domain.contract import Candidate, RawDocument, Skip, SourceRef
from palace import services as memory
from palace.store import Store
from tests.mining.support import CALLER, counts, filed_texts, grow_tree, put, reached, require_order, submitted


async def results(*jobs: Any) -> list[dict[str, Any]]:
    ended = [await reached(job.id) for job in jobs]
    assert [job.status for job in ended] == [Status.COMPLETED] * len(jobs), [job.error for job in ended]
    return [dict(job.result or {}) for job in ended]


async def test_two_mines_of_one_directory_give_one_result_and_the_second_says_what_it_found(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mining.sweep.BATCH_DOCUMENTS", 8)
    root = tmp_path / "tree"
    texts = grow_tree(root, 40, seed=1)
    (tmp_path / "link").symlink_to(root)
    real = DirectoryAdapter.read
    reading: list[str] = []
    alone: list[bool] = []

    def watched(self: DirectoryAdapter, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
        reading.append(candidate.external_id)
        alone.append(len(workers.runs) == 1)
        return real(self, ref, candidate)

    monkeypatch.setattr(DirectoryAdapter, "read", watched)
    jobs = await asyncio.gather(submitted(root), submitted(tmp_path / "link"), submitted(root, full=True))
    found = await results(*jobs)
    assert sorted(counts(result, "documents", "filed", "unchanged") for result in found) == [
        (40, 0, 40),
        (40, 0, 40),
        (40, 40, 0),
    ]
    assert len({result["source_id"] for result in found}) == 1
    assert sorted(reading) == sorted(texts)
    assert all(alone)
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def test_two_directories_into_one_new_wing_and_room_lose_nothing(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mining.sweep.BATCH_DOCUMENTS", 5)
    one, two = tmp_path / "one", tmp_path / "two"
    texts = {one: grow_tree(one, 40, seed=2), two: grow_tree(two, 40, seed=2)}
    for root in texts:
        texts[root]["only.txt"] = f"only in {root.name}\n"
        put(root / "only.txt", texts[root]["only.txt"])
    jobs = await asyncio.gather(*(submitted(root, wing="shared") for root in texts))
    found = await results(*jobs)
    assert [counts(result, "documents", "filed", "wing") for result in found] == [(41, 41, "shared")] * 2
    for root, expected in texts.items():
        assert await filed_texts(palace, root) == expected
    (wing,) = await memory.list_wings(CALLER)
    assert (wing.rooms, wing.drawers) == (1, sum(result["created"] for result in found))
    await require_order(palace)


async def test_hand_written_drawers_and_two_mines_side_by_side_lose_nothing(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mining.sweep.BATCH_DOCUMENTS", 5)
    one, two = tmp_path / "one", tmp_path / "two"
    texts = {root: grow_tree(root, 25, seed=seed) for seed, root in enumerate((one, two))}
    jobs = [await submitted(root, wing="shared") for root in texts]
    written = await asyncio.gather(*(memory.create_drawer(CALLER, "shared", "files", f"note {number}") for number in range(30)))
    await results(*jobs)
    for root, expected in texts.items():
        assert await filed_texts(palace, root) == expected
    for drawer, created in written:
        assert created
        assert await memory.show_drawer(CALLER, "shared", "files", drawer.id) == drawer
    await require_order(palace)
