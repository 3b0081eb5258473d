"""Documents that are not there any more: reported, and never taken for deleted."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from jobs.runtime.scheduler import Scheduler
from mining.adapters import walk
from palace.store import Store
from tests.mining.support import every_drawer, failed, filed_texts, mine, put, require_order

TEXTS = {"a.txt": "alpha\n", "sub/b.txt": "bravo\n", "sub/c.log": "charlie\n"}


def tree(root: Path) -> Path:
    for name, text in TEXTS.items():
        put(root / name, text)
    return root


async def test_a_deleted_file_is_reported_and_its_drawer_stays(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tree(tmp_path / "tree")
    await mine(root)
    (root / "a.txt").unlink()
    result = await mine(root)
    assert (result["missing"], result["missing_examples"], result["retired"]) == (1, ["a.txt"], 0)
    assert await filed_texts(palace, root) == TEXTS
    put(root / "a.txt", "alpha\n")
    result = await mine(root)
    assert (result["missing"], result["unchanged"], result["created"]) == (0, 3, 0)
    await require_order(palace)


async def test_a_directory_removed_between_two_mines_fails_the_job_and_retires_nothing(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tree(tmp_path / "tree")
    await mine(root)
    before = await every_drawer(palace)
    shutil.rmtree(root)
    assert str(root) in await failed(root)
    assert await every_drawer(palace) == before
    tree(root)
    result = await mine(root)
    assert (result["missing"], result["created"], result["unchanged"]) == (0, 0, 3)


async def test_a_directory_replaced_by_a_file_is_refused_and_retires_nothing(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    from palace.errors import InvalidInput

    root = tree(tmp_path / "tree")
    await mine(root)
    before = await every_drawer(palace)
    shutil.rmtree(root)
    put(root, "a file")
    with pytest.raises(InvalidInput, match="not a directory"):
        await mine(root)
    assert await every_drawer(palace) == before


async def test_a_directory_that_vanishes_during_the_mine_fails_the_job_and_keeps_what_was_filed(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path / "tree")
    await mine(root)
    before = await every_drawer(palace)
    real = walk._entries

    def vanishing(directory: str) -> Any:
        if directory.endswith("sub/"):
            shutil.rmtree(root)
        return real(directory)

    monkeypatch.setattr(walk, "_entries", vanishing)
    assert "cannot be listed" in await failed(root)
    assert await every_drawer(palace) == before


async def test_an_emptied_directory_reports_all_as_missing(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tree(tmp_path / "tree")
    await mine(root)
    shutil.rmtree(root)
    root.mkdir()
    result = await mine(root)
    assert (result["documents"], result["missing"], result["retired"]) == (0, 3, 0)
    assert await filed_texts(palace, root) == TEXTS


async def test_a_file_that_becomes_ignored_is_reported_and_its_drawer_stays(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tree(tmp_path / "tree")
    await mine(root)
    put(root / ".ignore", "*.log\n")
    result = await mine(root)
    assert (result["missing"], result["missing_examples"]) == (1, ["sub/c.log"])
    assert result["skipped_by_reason"] == {"ignored": 1}
    assert (await filed_texts(palace, root))["sub/c.log"] == "charlie\n"
    result = await mine(root, options={"ignore": "off"})
    assert (result["missing"], result["skipped"]) == (0, 0)


async def test_a_moved_file_is_a_new_document_and_the_old_one_is_missing(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tree(tmp_path / "tree")
    await mine(root)
    (root / "a.txt").rename(root / "sub" / "moved.txt")
    result = await mine(root)
    assert (result["created"], result["missing_examples"]) == (1, ["a.txt"])
    assert (await filed_texts(palace, root))["sub/moved.txt"] == "alpha\n"


async def test_a_narrowed_run_cannot_know_what_is_missing(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tree(tmp_path / "tree")
    await mine(root)
    (root / "a.txt").unlink()
    assert "missing" not in await mine(root, options={"since": "2020-01"})
    assert (await mine(root))["missing"] == 1
