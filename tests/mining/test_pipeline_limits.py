"""More documents than one job takes in, and files that turn up late with an old time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs import services as jobs
from jobs.domain.job import Status
from jobs.runtime.scheduler import Scheduler
from mining.adapters.directory import DirectoryAdapter
from mining.conf import MiningConfig
from mining.domain.contract import Candidate, RawDocument, Skip, SourceRef
from palace.configuration import overridden
from palace.store import Store, on_loop
from tests.mining.support import counts, filed_texts, mine, put, reached, require_order, submitted

OLD, NEW = 1_000_000_000, 1_500_000_000


@pytest.fixture(autouse=True)
def ten_documents_a_job() -> Iterator[None]:
    with overridden(MiningConfig(max_documents=10)):
        yield


def numbered(root: Path, number: int, *, mtime: float = NEW) -> dict[str, str]:
    texts = {f"{index:03}.txt": f"text {index}\n" for index in range(number)}
    for index, (name, text) in enumerate(texts.items()):
        put(root / name, text, mtime=mtime + index)
    return texts


async def mine_through(root: Path, **wish: Any) -> list[dict[str, Any]]:
    """Mines as the command does: a truncated job is followed by the next."""
    results = [await mine(root, **wish)]
    while results[-1]["truncated"]:
        results.append(await mine(root, **wish))
    return results


async def test_a_truncated_job_is_followed_to_the_end(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    texts = numbered(root, 25)
    put(root / "binary.bin", b"\0", mtime=OLD)
    results = await mine_through(root)
    assert [counts(result, "filed", "created", "truncated", "limit") for result in results] == [
        (10, 10, True, 10),
        (10, 10, True, 10),
        (5, 5, False, 10),
    ]
    assert sum(result["documents"] for result in results) == 26
    assert sum(result["skipped"] for result in results) == 1
    assert ["missing" in result for result in results] == [False, False, True]
    assert await filed_texts(palace, root) == texts
    assert counts(await mine(root), "documents", "unchanged", "truncated") == (26, 25, False)
    await require_order(palace)


async def test_exactly_the_limit_is_not_truncated(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    numbered(root, 10)
    assert counts(await mine(root), "filed", "truncated") == (10, False)


async def test_unchanged_documents_do_not_use_up_the_limit(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    numbered(root, 25)
    await mine_through(root)
    put(root / "new.txt", "new\n")
    assert counts(await mine(root), "unchanged", "created", "truncated") == (25, 1, False)
    for name in os.listdir(root):
        os.utime(root / name, (OLD, OLD))
    assert counts(await mine(root), "unchanged", "filed", "truncated") == (26, 0, False)


async def test_all_documents_changing_at_once_are_filed_in_turn(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    numbered(root, 25)
    await mine_through(root)
    texts = {f"{index:03}.txt": f"another text {index}\n" for index in range(25)}
    for name, text in texts.items():
        put(root / name, text)
    assert [result["superseded"] for result in await mine_through(root)] == [10, 10, 5]
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def test_a_file_with_an_old_time_that_appears_after_a_mine_is_found(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    numbered(root, 5)
    await mine(root)
    aside = put(tmp_path / "aside.txt", "copied with its time\n", mtime=OLD)
    shutil.copy2(aside, root / "copied.txt")
    aside.rename(root / "moved.txt")
    assert counts(await mine(root), "created", "unchanged", "truncated") == (2, 5, False)
    assert set(await filed_texts(palace, root)) >= {"copied.txt", "moved.txt"}


async def test_a_file_replaced_by_an_older_one_of_the_same_size_is_found(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    put(root / "a.txt", "the new text\n", mtime=NEW)
    await mine(root)
    put(tmp_path / "backup.txt", "the old text\n", mtime=NEW).replace(root / "a.txt")
    assert (await mine(root))["superseded"] == 1
    assert await filed_texts(palace, root) == {"a.txt": "the old text\n"}


async def test_a_file_with_an_old_time_that_appears_between_truncated_jobs_is_found(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    numbered(root, 15)
    put(root / "binary.bin", b"\0", mtime=OLD)
    first = await mine(root)
    put(root / "late.txt", "late, and older than all\n", mtime=OLD)
    second = await mine(root)
    assert counts(first, "filed", "truncated", "skipped") == (10, True, 1)
    assert counts(second, "filed", "truncated", "skipped", "documents") == (6, False, 0, 6)
    assert "late.txt" in await filed_texts(palace, root)
    await require_order(palace)


async def test_more_late_files_than_the_limit_are_left_to_the_next_job(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    numbered(root, 15)
    await mine(root)
    texts = {f"late-{index:03}.txt": f"late {index}\n" for index in range(20)}
    for name, text in texts.items():
        put(root / name, text, mtime=OLD)
    results = await mine_through(root)
    assert [counts(result, "filed", "truncated") for result in results] == [(10, True), (10, True), (5, False)]
    assert (await filed_texts(palace, root)).items() >= texts.items()
    assert counts(await mine(root), "unchanged", "filed") == (35, 0)


async def test_what_a_narrowed_and_truncated_run_left_out_is_filed_by_the_next_without_the_option(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    numbered(root, 15)
    put(root / "old.txt", "older than the option asks for\n", mtime=OLD)
    narrowed = await mine(root, options={"since": "2010-01"})
    assert counts(narrowed, "filed", "truncated") == (10, True)
    assert counts(await mine(root), "filed", "truncated") == (6, False)
    assert "old.txt" in await filed_texts(palace, root)


async def test_a_file_that_appears_while_a_paused_job_waits_is_found_by_it(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mining.sweep.BATCH_DOCUMENTS", 2)
    root = tmp_path / "tree"
    numbered(root, 6)
    real = DirectoryAdapter.read
    paused: list[str] = []

    def pausing(self: DirectoryAdapter, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
        if candidate.external_id == "002.txt" and not paused:
            paused.append(job.id)
            on_loop(jobs.pause(job.id))
        return real(self, ref, candidate)

    monkeypatch.setattr(DirectoryAdapter, "read", pausing)
    job = await submitted(root)
    await reached(job.id, Status.PAUSED)
    put(root / "late.txt", "late\n", mtime=OLD)
    await jobs.resume(job.id)
    result = (await reached(job.id)).result or {}
    assert counts(result, "documents", "filed", "created", "truncated", "missing") == (7, 7, 7, False, 0)
    assert len(await filed_texts(palace, root)) == 7
