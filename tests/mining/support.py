"""What the tests of mining runs share: mining in this process, and reading the palace back without its services."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobs import services as jobs
from jobs.domain.job import ENDS, Job, Status
from mining.services import MineRequest, submit_mine
from palace import services as memory
from palace.domain.drawer import Drawer
from palace.domain.modes import Caller
from palace.store import Store
from palace.store.drawers import read_drawers

CALLER = Caller(requested_by="test")
PATIENCE_SECONDS = 60.0


async def submitted(root: Path, **wish: Any) -> Job:
    """A mine job of that directory, queued."""
    return await submit_mine(CALLER, MineRequest(path=str(root), **wish))


async def reached(job_id: str, *statuses: Status) -> Job:
    """The job once it has one of the statuses, one of the final ones unless some are named."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            job = await jobs.get_job(CALLER, job_id)
            if job.status in (statuses or ENDS):
                return job
            await asyncio.sleep(0.005)


async def mine(root: Path, **wish: Any) -> dict[str, Any]:
    """Mines a directory and returns the result of the job, which must complete."""
    job = await reached((await submitted(root, **wish)).id)
    assert job.status is Status.COMPLETED, job.error
    return dict(job.result or {})


async def failed(root: Path, **wish: Any) -> str:
    """Mines a directory and returns the error of the job, which must fail."""
    job = await reached((await submitted(root, **wish)).id)
    assert job.status is Status.FAILED
    return str(job.error)


def counts(result: Mapping[str, Any], *names: str) -> tuple[Any, ...]:
    """These figures of a result."""
    return tuple(result[name] for name in names)


def put(path: Path, content: str | bytes, *, mtime: float | None = None) -> Path:
    """Writes a file with its parents, byte for byte."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if mtime is not None:
        os.utime(path, (mtime, mtime))
    return path


def grow_tree(root: Path, files: int, seed: int, *, characters: tuple[int, int] = (200, 2000)) -> dict[str, str]:
    """Writes a tree of text files whose content `seed` decides; gives their texts by path below `root`."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(400)]
    texts = {}
    for number in range(files):
        path = f"{chance.choice('abcd')}/{chance.choice('xyz')}/file-{number}.txt"
        size = chance.randint(*characters)
        lines = [f"file {number} of tree {seed}"]
        while sum(map(len, lines)) < size:
            lines.append(" ".join(chance.choices(words, k=chance.randint(3, 12))))
            if chance.random() < 0.2:
                lines.append("")
        texts[path] = "\n".join(lines) + "\n"
        put(root / path, texts[path])
    return texts


ROWS = "SELECT external_id, chunks, source FROM source_document;"
DRAWERS = "SELECT VALUE record::id(id) FROM drawer;"
ROOMS = "SELECT VALUE record::id(id) FROM room;"
SOURCES = "SELECT VALUE record::id(id) FROM source WHERE locator = $locator;"


async def every_drawer(palace: Store) -> dict[str, Drawer]:
    """All drawers by id, ended ones included."""
    return await read_drawers(palace, await palace.first(DRAWERS))


async def filed_texts(palace: Store, root: Path) -> dict[str, str]:
    """The documents filed from a directory, each put together from the drawers that its row names."""
    (source,) = await palace.first(SOURCES, locator=str(root))
    drawers = await every_drawer(palace)
    texts = {}
    for row in await palace.first(ROWS):
        if row["source"] == source:
            chunks = sorted(row["chunks"], key=lambda chunk: int(chunk["index"]))
            assert [chunk["index"] for chunk in chunks] == list(range(len(chunks)))
            texts[row["external_id"]] = "".join(drawers[chunk["drawer"]].content for chunk in chunks)
    return texts


async def require_order(palace: Store) -> None:
    """Fails when a mined drawer is half written, filed twice, filed nowhere, or counted wrongly.

    Every current mined drawer must be the one that its document's row names for its chunk, every row must name
    current drawers, every drawer must stand in a room, and the counts of wings must be those of the drawers.
    """
    drawers = await every_drawer(palace)
    rooms = set(await palace.first(ROOMS))
    assert {drawer.room for drawer in drawers.values()} <= rooms
    places: Counter[tuple[str, str, int]] = Counter()
    named = set()
    for row in await palace.first(ROWS):
        for chunk in row["chunks"]:
            drawer = drawers[chunk["drawer"]]
            origin = drawer.source.origin
            assert origin is not None
            assert (origin.source_id, origin.document, origin.chunk) == (row["source"], row["external_id"], chunk["index"])
            assert (drawer.content_hash, drawer.valid_to) == (chunk["hash"], None)
            named.add(drawer.id)
    for drawer in drawers.values():
        origin = drawer.source.origin
        if origin is not None and drawer.valid_to is None:
            places[origin.source_id, origin.document, origin.chunk] += 1
            assert drawer.id in named
    assert all(number == 1 for number in places.values())
    assert sum(wing.drawers for wing in await memory.list_wings(CALLER)) == len(drawers)


async def current_drawers(palace: Store, document: str) -> list[Drawer]:
    """The drawers that hold a document now, in the order of its chunks."""
    return [drawer for drawer in await drawers_of(palace, document) if drawer.valid_to is None]


async def drawers_of(palace: Store, document: str) -> list[Drawer]:
    """All drawers that ever held a document, in the order of its chunks and then of time."""
    found = [
        (origin.chunk, drawer.created_at, drawer.id, drawer)
        for drawer in (await every_drawer(palace)).values()
        if (origin := drawer.source.origin) is not None and origin.document == document
    ]
    return [drawer for *_, drawer in sorted(found, key=lambda entry: entry[:3])]
