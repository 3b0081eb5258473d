"""Documents of many chunks, and calls about many ids at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.runtime.scheduler import Scheduler
from mining.conf import MiningConfig
from palace.configuration import overridden
from palace.domain.ids import new_id
from palace.store import Store
from palace.store.drawers import names_taken, read_drawers
from palace.store.hierarchy import places
from tests.mining.support import counts, current_drawers, filed_texts, mine, put, require_order


@pytest.fixture(autouse=True)
def small_chunks() -> Iterator[None]:
    with overridden(MiningConfig(chunk_chars=200)):
        yield


async def test_a_document_of_many_chunks_is_filed_changed_and_shortened(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    lines = [f"{number:06} {'x' * 192}\n" for number in range(500)]
    file = put(root / "long.txt", "".join(lines))
    assert (await mine(root))["created"] == 500
    lines[250] = f"{'y' * 199}\n"
    put(file, "".join(lines))
    assert counts(await mine(root), "created", "superseded", "retired") == (1, 1, 0)
    assert await filed_texts(palace, root) == {"long.txt": "".join(lines)}
    put(file, "".join(lines[:10]))
    assert counts(await mine(root), "created", "superseded", "retired") == (0, 0, 490)
    assert len(await current_drawers(palace, "long.txt")) == 10
    await require_order(palace)


async def test_forty_thousand_ids_in_one_call_are_no_limit(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    put(tmp_path / "tree" / "a.txt", "text")
    await mine(tmp_path / "tree")
    (drawer,) = await current_drawers(palace, "a.txt")
    ids = [new_id() for _ in range(40_000)]
    ids[20_000] = drawer.id
    assert await read_drawers(palace, ids) == {drawer.id: drawer}
    assert list(await places(palace, [*ids, drawer.room])) == [drawer.room]
    assert await names_taken(palace, drawer.room, [*ids, "a.txt"]) == {"a.txt"}
