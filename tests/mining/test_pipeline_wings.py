"""Into which wing documents go, and what becomes of them when wings come and go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.runtime.scheduler import Scheduler
from mining.conf import MiningConfig
from palace import services as memory
from palace.configuration import overridden
from palace.errors import PathInvalid
from palace.store import Store
from tests.mining.support import CALLER, counts, current_drawers, failed, filed_texts, mine, put, require_order

NAMES = ["-home-me-app", "my_app", "my-app", "Ünïcode wing", "dotted.name.git", "图数据库"]


@pytest.fixture(autouse=True)
def small_chunks() -> Iterator[None]:
    with overridden(MiningConfig(chunk_chars=200)):
        yield


async def wings() -> dict[str, int]:
    return {wing.name: wing.drawers for wing in await memory.list_wings(CALLER)}


@pytest.mark.parametrize("asked", [True, False], ids=["asked for", "from the directory"])
async def test_a_wing_keeps_the_name_it_is_given(palace: Store, workers: Scheduler, tmp_path: Path, asked: bool) -> None:
    for name in NAMES:
        root = tmp_path / ("tree of " + name if asked else name)
        put(root / "a.txt", f"in {name}")
        result = await mine(root, wing=name if asked else None)
        assert (result["wing"], result["created"]) == (name, 1)
    assert await wings() == dict.fromkeys(NAMES, 1)
    for name in NAMES:
        assert (await memory.show_drawer(CALLER, name, "files", "a.txt")).content == f"in {name}"


async def test_counts_of_wing_room_and_palace_are_those_of_the_drawers(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    for number in range(7):
        put(root / f"{number}.txt", f"word{number} " * 100)
    result = await mine(root)
    assert result["created"] > 7
    assert await wings() == {"tree": result["created"]}
    (room,) = await memory.list_rooms(CALLER, "tree")
    assert (room.name, room.drawers) == ("files", result["created"])
    await require_order(palace)


@pytest.mark.parametrize("name", ["a/b", " padded", "", "6fa459ea-ee8a-3ca4-894e-db77e160355e", "new\nline"])
async def test_a_wing_name_that_is_refused_leaves_nothing_behind(
    palace: Store, workers: Scheduler, tmp_path: Path, name: str
) -> None:
    put(tmp_path / "tree" / "a.txt", "text")
    with pytest.raises(PathInvalid):
        await mine(tmp_path / "tree", wing=name)
    assert await wings() == {}
    assert await palace.first("SELECT * FROM source;") == []
    assert await palace.first("SELECT * FROM job;") == []


async def test_a_project_that_declares_an_unusable_wing_still_goes_somewhere(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    put(root / ".config" / "memcastle.toml", '[memcastle]\nwing = "a/b"\n')
    put(root / "a.txt", "text")
    assert (await mine(root))["wing"] == "tree"


async def test_documents_of_a_deleted_wing_are_filed_again(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    texts = {f"{number}.txt": f"word{number} " * 100 for number in range(5)}
    for name, text in texts.items():
        put(root / name, text)
    first = await mine(root)
    await memory.delete_wing(CALLER, "tree")
    assert await wings() == {}
    again = await mine(root)
    assert counts(again, "created", "superseded", "unchanged") == (first["created"], 0, 0)
    assert await filed_texts(palace, root) == texts
    await require_order(palace)


async def test_documents_of_a_deleted_room_are_filed_again(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    put(root / "a.txt", "text")
    await mine(root)
    await memory.delete_room(CALLER, "tree", "files")
    assert counts(await mine(root), "created", "unchanged") == (1, 0)
    assert await filed_texts(palace, root) == {"a.txt": "text"}


async def test_an_unchanged_document_stays_in_its_wing_and_the_result_says_so(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    put(root / "a.txt", "alpha")
    await mine(root, wing="first")
    put(root / "b.txt", "bravo")
    result = await mine(root, wing="second")
    assert counts(result, "created", "unchanged", "unchanged_elsewhere") == (1, 1, 1)
    assert await wings() == {"first": 1, "second": 1}
    assert counts(await mine(root, wing="first"), "unchanged", "unchanged_elsewhere") == (2, 1)


async def test_a_document_that_changes_while_another_wing_is_asked_for_moves_there_whole(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    head, tail = ("head " * 40)[:199] + "\n", "tail"
    file = put(root / "a.txt", head + tail)
    await mine(root, wing="first")
    put(file, head + "another tail")
    assert counts(await mine(root, wing="second"), "created", "superseded") == (2, 2)
    rooms = {drawer.room for drawer in await current_drawers(palace, "a.txt")}
    assert rooms == {room.id for room in await memory.list_rooms(CALLER, "second")}
    await require_order(palace)
    await memory.delete_wing(CALLER, "first")
    assert counts(await mine(root, wing="second"), "created", "unchanged") == (0, 1)
    assert await filed_texts(palace, root) == {"a.txt": head + "another tail"}
    await require_order(palace)


async def test_two_directories_with_files_of_the_same_name_share_a_room(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    put(one / "README.md", "the first")
    put(two / "README.md", "the second")
    await mine(one, wing="shared")
    await mine(two, wing="shared")
    assert await filed_texts(palace, one) == {"README.md": "the first"}
    assert await filed_texts(palace, two) == {"README.md": "the second"}
    names = [drawer.name for drawer in await current_drawers(palace, "README.md")]
    assert set(names) == {None, "README.md"}
    await require_order(palace)


async def test_one_place_under_two_spellings_is_one_source(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    put(root / "a.txt", "text")
    (tmp_path / "link").symlink_to(root)
    await mine(root)
    result = await mine(tmp_path / "link", options={"ignore": "off"})
    assert counts(result, "unchanged", "created", "locator") == (1, 0, str(root))


async def test_a_vanished_place_creates_neither_wing_nor_source(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    assert "No such file" in await failed(tmp_path / "nowhere")
    assert await wings() == {}
    assert await palace.first("SELECT * FROM source;") == []
