"""Files that are no documents: they are counted with a reason, and never break the run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from jobs.runtime.scheduler import Scheduler
from mining.adapters.directory import DirectoryAdapter
from mining.domain.contract import Candidate, RawDocument, Skip, SourceRef
from palace.store import Store
from palace.store.drawers import find_drawer
from tests.mining.support import current_drawers, every_drawer, filed_texts, mine, put, require_order


def skipped(result: dict[str, Any]) -> dict[str, str]:
    return {example["path"]: example["reason"] for example in result["skipped_examples"]}


async def test_every_kind_of_unfit_file_is_reported_beside_those_that_were_filed(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    put(root / "good.md", "a good file\n")
    put(root / "notes.md", b"# \xff\xfe\n")
    put(root / "image.png", b"\x89PNG\0\0\0")
    put(root / "empty.txt", b"")
    put(root / "transcript.jsonl", b'{"text": "word"}\n' * 700_000)
    assert (root / "transcript.jsonl").stat().st_size > 11_000_000
    (root / "deep" / "down").mkdir(parents=True)
    (root / "deep" / "down" / "loop").symlink_to(root)
    (root / "link.jsonl").symlink_to(root / "good.md")
    os.mkfifo(root / "pipe")
    put(root / "build" / "made.txt", "made\n")
    result = await mine(root)
    assert skipped(result) == {
        "notes.md": "not_utf8",
        "image.png": "binary",
        "empty.txt": "empty",
        "transcript.jsonl": "too_large",
        "deep/down/loop": "symlink",
        "link.jsonl": "symlink",
        "pipe": "unreadable",
        "build/": "ignored",
    }
    assert result["skipped"] == 8
    assert result["skipped_by_reason"] == {
        "binary": 1, "too_large": 1, "empty": 1, "not_utf8": 1, "ignored": 1, "unreadable": 1, "symlink": 2
    }  # fmt: skip
    assert (result["documents"], result["filed"], result["created"], result["missing"]) == (3, 1, 1, 0)
    assert await filed_texts(palace, root) == {"good.md": "a good file\n"}
    await require_order(palace)


async def test_more_unfit_files_than_examples_are_all_counted(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    for number in range(60):
        put(root / f"{number}.bin", b"\0binary")
    put(root / "lost.md", b"\xff")
    put(root / "good.md", "text")
    result = await mine(root)
    assert result["skipped_by_reason"] == {"binary": 60, "not_utf8": 1}
    assert len(result["skipped_examples"]) == 20
    assert {"path": "lost.md", "reason": "not_utf8"} in result["skipped_examples"]


async def test_a_line_of_one_megabyte_is_cut_into_bounded_chunks_and_loses_nothing(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    line = "".join(f"{number}x" for number in range(160_000))[:1_000_000]
    put(root / "line.txt", line)
    assert (await mine(root))["created"] == 167
    drawers = await current_drawers(palace, "line.txt")
    assert max(len(drawer.content) for drawer in drawers) == 6000
    assert await filed_texts(palace, root) == {"line.txt": line}
    await require_order(palace)


async def test_a_byte_order_mark_and_crlf_are_kept_and_do_not_count_as_content(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    written = {
        "plain.md": b"title: x\nbody\n",
        "crlf.md": b"title: x\r\nbody\r\n",
        "mark.md": b"\xef\xbb\xbftitle: x\nbody\n",
        "both.md": b"\xef\xbb\xbftitle: x\r\nbody\r\n",
    }
    for name, content in written.items():
        put(root / name, content)
    await mine(root)
    drawers = await every_drawer(palace)
    assert {drawer.name: drawer.content.encode() for drawer in drawers.values()} == written
    assert len({drawer.content_hash for drawer in drawers.values()}) == 1
    revisions = {drawer.source.origin.revision for drawer in drawers.values() if drawer.source.origin}
    assert len(revisions) == 1


async def test_a_name_with_a_newline_is_filed_under_its_path_and_without_a_name(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    path = put(root / "two\nlines.txt", "content of the odd one\n")
    assert (await mine(root))["created"] == 1
    (drawer,) = await current_drawers(palace, "two\nlines.txt")
    assert (drawer.name, drawer.source.uri) == (None, str(path))
    assert (await mine(root))["unchanged"] == 1


async def test_names_of_every_script_become_names_of_drawers(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    names = ["图数据库.md", "Ünïcode name.md", "-leading.md", "a..b.md", ".env", "deep/été/ملف.txt"]
    for name in names:
        put(root / name, f"in {name}")
    await mine(root)
    (room,) = {drawer.room for drawer in (await every_drawer(palace)).values()}
    for name in names:
        drawer = await find_drawer(palace, room, name, None)
        assert drawer is not None
        assert drawer.content == f"in {name}"


async def test_a_file_deleted_between_listing_and_reading_is_skipped_and_the_rest_is_filed(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "tree"
    for name in ("a.txt", "b.txt", "c.txt"):
        put(root / name, f"text of {name}")
    real = DirectoryAdapter.read

    def late(self: DirectoryAdapter, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
        if candidate.external_id == "b.txt":
            (root / "b.txt").unlink()
        return real(self, ref, candidate)

    monkeypatch.setattr(DirectoryAdapter, "read", late)
    result = await mine(root)
    assert skipped(result) == {"b.txt": "unreadable"}
    assert (result["documents"], result["created"]) == (3, 2)
    assert set(await filed_texts(palace, root)) == {"a.txt", "c.txt"}
    assert (await mine(root))["missing"] == 0


async def test_a_file_rewritten_between_listing_and_reading_is_read_again_by_the_next_mine(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "tree"
    put(root / "a.txt", "listed text", mtime=1_000_000_000)
    real = DirectoryAdapter.read

    def late(self: DirectoryAdapter, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
        found = real(self, ref, candidate)
        put(root / "a.txt", "final text!", mtime=1_000_000_001)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(DirectoryAdapter, "read", late)
        await mine(root)
    assert (await mine(root))["superseded"] == 1
    assert await filed_texts(palace, root) == {"a.txt": "final text!"}


async def test_a_document_that_became_unfit_keeps_its_drawers(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    put(root / "a.txt", "readable text\n")
    put(root / "b.txt", "readable too\n")
    put(root / "c.txt", "readable as well\n")
    await mine(root)
    put(root / "a.txt", b"\0binary now")
    put(root / "b.txt", b"\xff not utf-8 now")
    put(root / "c.txt", b"")
    result = await mine(root)
    assert skipped(result) == {"a.txt": "binary", "b.txt": "not_utf8", "c.txt": "empty"}
    assert (result["retired"], result["missing"], result["missing_examples"]) == (0, 1, ["c.txt"])
    assert len(await filed_texts(palace, root)) == 3
