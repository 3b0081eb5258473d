"""The tailer: every committed transaction once, in commit order, and none before it can be read."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from palace.clock import now
from palace.errors import StoreFailed
from palace.events import ChangeTailer
from palace.signals import changes_read
from palace.store import Fragment, Store
from palace.store.changes import Change, Stamped, announce, purge_changes
from palace.store.connection import Store as StoreClass

PATIENCE_SECONDS = 20.0


class Listener:
    """Collects what the tailer reads."""

    def __init__(self) -> None:
        self.changes: list[Stamped] = []

    def __call__(self, changes: list[Stamped], **_: Any) -> None:
        self.changes += changes

    @property
    def ids(self) -> list[str]:
        return [entry["id"] for change in self.changes for entry in change.entries]

    async def heard(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.ids) < count:
                await asyncio.sleep(0.005)


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    changes_read.connect(found, weak=False)
    yield found
    changes_read.disconnect(found)


@pytest.fixture
async def tailer(palace: Store) -> AsyncIterator[ChangeTailer]:
    following = ChangeTailer(palace)
    await following.start()
    yield following
    await following.stop()


def told(id: str) -> Fragment:
    return announce(now(), Change("thing", "created", id))


async def commit(palace: Store, id: str) -> None:
    await palace.transact(told(id))


async def test_a_commit_of_this_process_is_heard_at_once(palace: Store, tailer: ChangeTailer, listener: Listener) -> None:
    for number in range(50):
        await commit(palace, str(number))
        await listener.heard(number + 1)
    assert listener.ids == [str(number) for number in range(50)]
    assert tailer.health().lag_ms == 0


async def test_what_was_committed_before_the_start_is_not_news(palace: Store, listener: Listener) -> None:
    await commit(palace, "old")
    await asyncio.sleep(1.2)
    following = ChangeTailer(palace)
    await following.start()
    await commit(palace, "new")
    await listener.heard(1)
    await following.stop()
    assert listener.ids == ["new"]


async def test_writers_side_by_side_are_all_heard_once(palace: Store, tailer: ChangeTailer, listener: Listener) -> None:
    """Stamps may become readable in another order than their own when transactions commit side by side."""

    async def writer(number: int) -> None:
        for count in range(60):
            fragment = told(f"{number}-{count}")
            pause = "SLEEP 3ms;" if random.random() < 0.1 else ""
            # As another daemon's connection would: without waiting for this process's turn to write.
            await palace.query(f"BEGIN; {fragment.sql} {pause} COMMIT;", **fragment.variables)
            palace.news.set()

    await asyncio.gather(*(writer(number) for number in range(16)))
    await listener.heard(16 * 60)
    await asyncio.sleep(0.3)
    assert len(listener.ids) == len(set(listener.ids)) == 16 * 60
    for number in range(16):
        own = [id for id in listener.ids if id.startswith(f"{number}-")]
        assert own == [f"{number}-{count}" for count in range(60)]


async def test_what_is_heard_can_be_read(palace: Store, tailer: ChangeTailer) -> None:
    await palace.query("DEFINE TABLE thing SCHEMALESS;")
    missing: list[str] = []
    heard: list[str] = []

    async def look(changes: list[Stamped], **_: Any) -> None:
        for change in changes:
            for entry in change.entries:
                heard.append(entry["id"])
                if not await palace.first("SELECT id FROM type::record('thing', $id);", id=entry["id"]):
                    missing.append(entry["id"])

    changes_read.connect(look, weak=False)
    try:
        for number in range(100):
            create = Fragment("CREATE type::record('thing', $thing);", {"thing": str(number)})
            await palace.transact(told(str(number)), create)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(heard) < 100:
                await asyncio.sleep(0.01)
    finally:
        changes_read.disconnect(look)
    assert missing == []


async def test_commits_of_others_are_heard_without_a_nudge(palace: Store, tailer: ChangeTailer, listener: Listener) -> None:
    fragment = told("elsewhere")
    await palace.query(fragment.sql, **fragment.variables)
    await listener.heard(1)


async def test_a_failing_store_loses_nothing(
    palace: Store, tailer: ChangeTailer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = StoreClass.first

    async def failing(self: Store, sql: str, **variables: Any) -> Any:
        if sql.startswith("SHOW CHANGES"):
            raise StoreFailed("no disk")
        return await real(self, sql, **variables)

    monkeypatch.setattr(StoreClass, "first", failing)
    for number in range(5):
        await commit(palace, str(number))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while tailer.health().error is None:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert tailer.health().lag_ms > 0
    assert tailer.health().alive
    monkeypatch.undo()
    await listener.heard(5)
    assert listener.ids == ["0", "1", "2", "3", "4"]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (tailer.health().error, tailer.health().lag_ms) != (None, 0):
            await asyncio.sleep(0.01)


async def test_a_tailer_that_breaks_is_started_again(
    palace: Store, tailer: ChangeTailer, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ArithmeticError

    monkeypatch.setattr(tailer, "_remember", broken)
    await commit(palace, "one")
    async with asyncio.timeout(PATIENCE_SECONDS):
        while tailer.health().alive:
            await asyncio.sleep(0.01)
    assert tailer.health().restarts == 1
    monkeypatch.undo()
    await commit(palace, "two")
    await listener.heard(2)
    assert listener.ids == ["one", "two"]
    assert tailer.health().alive


async def test_a_listener_that_breaks_keeps_nobody_from_hearing(
    palace: Store, tailer: ChangeTailer, listener: Listener
) -> None:
    def broken(**_: Any) -> None:
        raise ArithmeticError

    changes_read.connect(broken, weak=False)
    try:
        for number in range(3):
            await commit(palace, str(number))
        await listener.heard(3)
    finally:
        changes_read.disconnect(broken)
    assert tailer.health().restarts == 0


async def test_purging_is_no_news(palace: Store, tailer: ChangeTailer, listener: Listener) -> None:
    await palace.query("UPDATE change SET at = '2020'; ")
    await purge_changes(palace, now())
    await commit(palace, "one")
    await listener.heard(1)
    assert listener.ids == ["one"]


async def test_news_at_the_very_moment_of_the_stop_keep_it_from_nothing(palace: Store) -> None:
    for _ in range(20):
        following = ChangeTailer(palace)
        await following.start()
        await commit(palace, "one")
        await asyncio.sleep(0.01)
        palace.news.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await following.stop()


async def test_more_than_a_page_is_heard(palace: Store, listener: Listener) -> None:
    following = ChangeTailer(palace)
    await following.start()
    for _ in range(25):
        fragments = [told(f"{number}") for number in range(100)]
        await palace.query(
            "".join(f.sql.replace("$change_", f"$c{n}_") for n, f in enumerate(fragments)),
            **{
                name.replace("change_", f"c{n}_"): value for n, f in enumerate(fragments) for name, value in f.variables.items()
            },
        )
    await listener.heard(2500)
    await following.stop()
    assert len(listener.ids) == 2500
