"""Ignore files decide what is filed, with git's meaning, and can be turned off."""

from __future__ import annotations

from pathlib import Path

from jobs.runtime.scheduler import Scheduler
from palace.store import Store
from tests.mining.support import counts, filed_texts, mine, put

FILES = ("main.py", "made/out.txt", "run.log", "keep.log", "sub/run.log", "sub/deep/note.txt", "sub/secret.txt")


def tree(root: Path) -> Path:
    for name in FILES:
        put(root / name, f"text of {name}\n")
    put(root / ".gitignore", "made/\n*.log\n!keep.log\n")
    put(root / "sub" / ".gitignore", "!run.log\nsecret.txt\n")
    return root


async def test_what_git_would_leave_out_is_not_filed_and_is_counted(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tree(tmp_path / "tree")
    result = await mine(root)
    filed = {"main.py", "keep.log", "sub/run.log", "sub/deep/note.txt", ".gitignore", "sub/.gitignore"}
    assert set(await filed_texts(palace, root)) == filed
    ignored = {example["path"] for example in result["skipped_examples"]}
    assert (ignored, result["skipped_by_reason"]) == ({"made/", "run.log", "sub/secret.txt"}, {"ignored": 3})


async def test_turned_off_everything_is_filed_and_turned_on_again_reported(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tree(tmp_path / "tree")
    assert counts(await mine(root, options={"ignore": "off"}), "created", "skipped") == (9, 0)
    assert set(await filed_texts(palace, root)) > set(FILES)
    result = await mine(root)
    assert counts(result, "unchanged", "missing", "retired") == (6, 3, 0)
    assert result["missing_examples"] == ["made/out.txt", "run.log", "sub/secret.txt"]


async def test_a_rule_taken_away_lets_its_files_in_although_they_are_old(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    put(root / "old.log", "an old log\n", mtime=1_000_000_000)
    put(root / "main.py", "code\n")
    rules = put(root / ".ignore", "*.log\n")
    await mine(root)
    rules.unlink()
    assert counts(await mine(root), "created", "unchanged", "missing") == (1, 1, 1)
    assert "old.log" in await filed_texts(palace, root)
