"""What a changed document does to the drawers that hold it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.runtime.scheduler import Scheduler
from mining.conf import MiningConfig
from palace.configuration import overridden
from palace.domain.clock import add_seconds
from palace.domain.drawer import Drawer
from palace.store import Store
from search.domain.query import query_from_text
from search.services import search
from tests.mining.support import CALLER, counts, current_drawers, drawers_of, filed_texts, mine, put, require_order

CHANGES = ("created", "superseded", "retired", "unchanged")


@pytest.fixture(autouse=True)
def small_chunks() -> Iterator[None]:
    with overridden(MiningConfig(chunk_chars=200)):
        yield


def part(word: str) -> str:
    """Text that fills one chunk: 200 characters, the last one a line end."""
    return (f"{word} " * 200)[:199] + "\n"


def ids(drawers: list[Drawer]) -> list[str]:
    return [drawer.id for drawer in drawers]


async def found(text: str, **options: str) -> list[str]:
    query = query_from_text(
        q=text,
        limit=None,
        wing=None,
        room=None,
        ranking=None,
        tags=(),
        source_kind=None,
        as_of=options.get("as_of"),
        from_=None,
        until=None,
        include_historical=options.get("history") == "true",
        expand=False,
    )
    return [hit.drawer.id for hit in await search(CALLER, query)]


async def test_a_change_in_the_middle_replaces_one_drawer_at_one_instant(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    file = put(root / "a.txt", part("alpha") + part("bravo") + part("charlie"))
    await mine(root)
    before = await current_drawers(palace, "a.txt")
    put(file, part("alpha") + part("delta") + part("charlie"))
    assert counts(await mine(root), *CHANGES) == (1, 1, 0, 0)
    after = await current_drawers(palace, "a.txt")
    assert (after[0].id, after[2].id) == (before[0].id, before[2].id)
    old = (await drawers_of(palace, "a.txt"))[1]
    new = after[1]
    assert old.id == before[1].id
    assert old.valid_to == new.valid_from
    assert (old.superseded_by, new.supersedes) == (new.id, old.id)
    assert old.content == part("bravo")
    assert await filed_texts(palace, root) == {"a.txt": file.read_text()}
    await require_order(palace)


async def test_a_replaced_text_is_found_only_by_who_asks_for_that_time(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    file = put(root / "a.txt", "we chose postgres\n")
    await mine(root)
    (old,) = await current_drawers(palace, "a.txt")
    put(file, "we chose surreal\n")
    await mine(root)
    (new,) = await current_drawers(palace, "a.txt")
    assert await found("postgres") == []
    assert await found("chose") == [new.id]
    assert await found("chose", as_of=old.valid_from) == [old.id]
    assert await found("chose", as_of=new.valid_from) == [new.id]
    assert await found("chose", as_of=add_seconds(old.valid_from, -1)) == []
    assert sorted(await found("chose", history="true")) == sorted([old.id, new.id])


async def test_a_document_that_grows_keeps_its_first_drawers(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    file = put(root / "a.txt", part("alpha") + part("bravo"))
    await mine(root)
    before = await current_drawers(palace, "a.txt")
    put(file, part("alpha") + part("bravo") + part("charlie") + "the end")
    assert counts(await mine(root), *CHANGES) == (2, 0, 0, 0)
    after = await current_drawers(palace, "a.txt")
    assert ids(after[:2]) == ids(before)
    assert await filed_texts(palace, root) == {"a.txt": file.read_text()}
    await require_order(palace)


async def test_a_document_that_shrinks_retires_what_is_no_longer_there(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    file = put(root / "a.txt", part("alpha") + part("bravo") + part("charlie"))
    await mine(root)
    before = await current_drawers(palace, "a.txt")
    put(file, part("alpha"))
    assert counts(await mine(root), *CHANGES) == (0, 0, 2, 0)
    assert ids(await current_drawers(palace, "a.txt")) == [before[0].id]
    retired = (await drawers_of(palace, "a.txt"))[1:]
    assert ids(retired) == ids(before[1:])
    assert all(drawer.valid_to is not None and drawer.superseded_by is None for drawer in retired)
    assert await found("bravo") == []
    await require_order(palace)


async def test_a_text_that_comes_back_gets_a_new_drawer_and_the_ended_one_stays_ended(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    first, second = part("alpha") + part("bravo"), part("alpha") + part("delta")
    file = put(root / "a.txt", first)
    for text in (first, second, first, second, first):
        put(file, text)
        await mine(root)
        assert await filed_texts(palace, root) == {"a.txt": text}
    lives = (await drawers_of(palace, "a.txt"))[1:]
    assert [drawer.content.split()[0] for drawer in lives] == ["bravo", "delta", "bravo", "delta", "bravo"]
    assert len(set(ids(lives))) == 5
    assert [drawer.valid_to for drawer in lives] == [drawer.valid_from for drawer in lives[1:]] + [None]
    await require_order(palace)


async def test_a_replacement_takes_over_the_name(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    file = put(root / "docs" / "a.txt", part("alpha") + part("bravo"))
    await mine(root)
    put(file, part("zulu") + part("bravo"))
    await mine(root)
    old, new, other = await drawers_of(palace, "docs/a.txt")
    assert (old.name, new.name, other.name) == (None, "docs/a.txt", None)


async def test_a_change_of_nothing_but_the_time_is_no_change_and_is_remembered(
    palace: Store, workers: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mining.adapters.directory import DirectoryAdapter

    root = tmp_path / "tree"
    for name in ("a.txt", "b.txt", "c.txt"):
        put(root / name, f"text of {name}\n", mtime=1_000_000_000)
    await mine(root)
    before = await filed_texts(palace, root)
    read: list[str] = []
    real = DirectoryAdapter.read

    def watched(self, ref, candidate):  # type: ignore[no-untyped-def]
        read.append(candidate.external_id)
        return real(self, ref, candidate)

    monkeypatch.setattr(DirectoryAdapter, "read", watched)
    os.utime(root / "b.txt", (1_100_000_000, 1_100_000_000))
    assert counts(await mine(root), *CHANGES, "filed", "documents") == (0, 0, 0, 3, 0, 3)
    assert read == ["b.txt"]
    assert counts(await mine(root), *CHANGES, "documents") == (0, 0, 0, 3, 3)
    assert read == ["b.txt"]
    assert counts(await mine(root, full=True), *CHANGES) == (0, 0, 0, 3)
    assert await filed_texts(palace, root) == before


async def test_line_ends_and_a_byte_order_mark_are_no_change(palace: Store, workers: Scheduler, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    file = put(root / "a.txt", "first\nsecond\n")
    await mine(root)
    (before,) = await current_drawers(palace, "a.txt")
    for content in (b"first\r\nsecond\r\n", b"\xef\xbb\xbffirst\nsecond\n", b"first\nsecond\n"):
        put(file, content)
        assert counts(await mine(root), *CHANGES) == (0, 0, 0, 1)
    assert await current_drawers(palace, "a.txt") == [before]
