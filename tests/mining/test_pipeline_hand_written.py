"""What people and agents write or delete by hand stays as they left it, whatever a mine does beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jobs.runtime.scheduler import Scheduler
from mining.adapters.directory import DirectoryAdapter
from mining.conf import MiningConfig
from mining.domain.contract import Candidate, RawDocument, Skip, SourceRef
from palace import services as memory
from palace.configuration import overridden
from palace.store import Store, on_loop
from tests.mining.support import CALLER, counts, current_drawers, every_drawer, mine, put, require_order


@pytest.fixture(autouse=True)
def small_chunks() -> Iterator[None]:
    with overridden(MiningConfig(chunk_chars=200)):
        yield


def by_hand(name: str) -> Callable[[], None]:
    """Stores a drawer of that name beside the mined ones, from the mine's own thread."""

    def act() -> None:
        on_loop(memory.create_drawer(CALLER, "tree", "files", "written by hand", name))

    return act


@pytest.fixture
def on_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], None]], None]:
    """Does something, once, in the mine's own thread when it is about to read that document."""

    def arrange(document: str, act: Callable[[], None]) -> None:
        real = DirectoryAdapter.read
        done: list[str] = []

        def read(self: DirectoryAdapter, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
            if candidate.external_id == document and not done:
                done.append(document)
                act()
            return real(self, ref, candidate)

        monkeypatch.setattr(DirectoryAdapter, "read", read)

    return arrange


async def test_a_name_taken_by_hand_before_the_mine_leaves_the_document_unnamed(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    hand, _ = await memory.create_drawer(CALLER, "tree", "files", "written by hand", "a.txt")
    put(tmp_path / "tree" / "a.txt", "mined text")
    assert (await mine(tmp_path / "tree"))["created"] == 1
    (mined,) = await current_drawers(palace, "a.txt")
    assert mined.name is None
    assert await memory.show_drawer(CALLER, "tree", "files", "a.txt") == hand
    await require_order(palace)


async def test_a_name_taken_by_hand_while_the_batch_is_being_read_leaves_the_document_unnamed(
    palace: Store, workers: Scheduler, tmp_path: Path, on_reading: Callable[[str, Callable[[], None]], None]
) -> None:
    root = tmp_path / "tree"
    for name in ("a.txt", "b.txt"):
        put(root / name, f"mined {name}")
    on_reading("b.txt", by_hand("a.txt"))
    assert (await mine(root))["created"] == 2
    assert (await memory.show_drawer(CALLER, "tree", "files", "a.txt")).content == "written by hand"
    assert [drawer.name for drawer in await current_drawers(palace, "a.txt")] == [None]
    assert [drawer.name for drawer in await current_drawers(palace, "b.txt")] == ["b.txt"]


async def test_a_name_taken_between_the_comparison_and_the_commit_is_compared_again(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mining import filing

    real = filing.file_documents
    tries: list[int] = []

    async def raced(*arguments: object) -> None:
        tries.append(1)
        if len(tries) == 1:
            await memory.create_drawer(CALLER, "tree", "files", "by hand", "a.txt")
        await real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(filing, "file_documents", raced)
    put(tmp_path / "tree" / "a.txt", "mined text")
    assert (await mine(tmp_path / "tree"))["created"] == 1
    assert len(await every_drawer(palace)) == 2
    await require_order(palace)


async def test_a_document_that_moves_to_a_wing_where_its_name_is_taken_is_filed_unnamed(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    file = put(tmp_path / "tree" / "a.txt", "first text")
    await mine(tmp_path / "tree", wing="first")
    await memory.create_drawer(CALLER, "second", "files", "by hand", "a.txt")
    put(file, "second text")
    assert counts(await mine(tmp_path / "tree", wing="second"), "created", "superseded") == (1, 1)
    (mined,) = await current_drawers(palace, "a.txt")
    assert (mined.name, mined.content) == (None, "second text")


async def test_a_drawer_added_by_hand_during_a_second_mine_survives_it(
    palace: Store, workers: Scheduler, tmp_path: Path, on_reading: Callable[[str, Callable[[], None]], None]
) -> None:
    root = tmp_path / "tree"
    for name in ("a.txt", "b.txt", "c.txt"):
        put(root / name, f"mined {name}")
    await mine(root)
    for name in ("a.txt", "c.txt"):
        put(root / name, f"changed {name}")
    on_reading("c.txt", by_hand("note"))
    assert counts(await mine(root), "superseded", "retired") == (2, 0)
    note = await memory.show_drawer(CALLER, "tree", "files", "note")
    assert (note.content, note.valid_to) == ("written by hand", None)
    await mine(root, full=True)
    assert (await memory.show_drawer(CALLER, "tree", "files", "note")).valid_to is None


async def test_a_mined_drawer_deleted_by_hand_stays_deleted_until_its_own_text_changes(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    head, tail = ("head " * 40)[:199] + "\n", "tail"
    file = put(root / "a.txt", head + tail)
    await mine(root)
    (first, _) = await current_drawers(palace, "a.txt")
    await memory.delete_drawer(CALLER, "tree", "files", first.id)
    assert counts(await mine(root, full=True), "unchanged", "created") == (1, 0)
    put(file, head + "another tail")
    assert counts(await mine(root), "created", "superseded") == (1, 1)
    assert [drawer.content for drawer in await current_drawers(palace, "a.txt")] == ["another tail"]
    put(file, "new " + head + "another tail")
    await mine(root)
    assert "".join(drawer.content for drawer in await current_drawers(palace, "a.txt")) == file.read_text()
    await require_order(palace)


async def test_a_drawer_deleted_by_hand_between_the_comparison_and_the_commit_is_no_obstacle(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mining import filing

    root = tmp_path / "tree"
    file = put(root / "a.txt", "first text")
    await mine(root)
    (old,) = await current_drawers(palace, "a.txt")
    real = filing.file_documents
    tries: list[int] = []

    async def raced(*arguments: object) -> None:
        tries.append(1)
        if len(tries) == 1:
            await memory.delete_drawer(CALLER, "tree", "files", old.id)
        await real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(filing, "file_documents", raced)
    put(file, "second text")
    assert counts(await mine(root), "created", "superseded") == (1, 0)
    assert [drawer.content for drawer in (await every_drawer(palace)).values()] == ["second text"]


async def test_the_same_text_by_hand_and_by_mine_are_two_records(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    hand, _ = await memory.create_drawer(CALLER, "tree", "files", "one text")
    put(tmp_path / "tree" / "a.txt", "one text")
    put(tmp_path / "tree" / "b.txt", "one text")
    assert (await mine(tmp_path / "tree"))["created"] == 2
    again, created = await memory.create_drawer(CALLER, "tree", "files", "one text")
    assert (again.id, created) == (hand.id, False)
    assert len(await every_drawer(palace)) == 3
