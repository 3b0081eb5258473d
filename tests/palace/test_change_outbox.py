"""Every write tells the outbox what it changed, in commit order and without content."""

from __future__ import annotations

import asyncio

import pytest

from palace import services
from palace.clock import now
from palace.domain.clock import add_seconds
from palace.domain.modes import Caller
from palace.store import Fragment, Store, TransactionRefused
from palace.store.changes import KEEP_SECONDS, Change, announce, purge_changes, read_changes

CALLER = Caller()


async def test_a_write_tells_all_that_it_changed_at_once(palace: Store) -> None:
    drawer, _ = await services.create_drawer(CALLER, "secret wing", "secret room", "secret text", "secret name")
    (written,) = await read_changes(palace, 0)
    assert [(entry["kind"], entry["action"]) for entry in written.entries] == [
        ("wing", "created"),
        ("room", "created"),
        ("drawer", "created"),
    ]
    assert written.entries[-1]["id"] == drawer.id
    assert "secret" not in str(written)


async def test_deletions_are_told_too(palace: Store) -> None:
    drawer, _ = await services.create_drawer(CALLER, "w", "r", "text")
    await services.delete_drawer(CALLER, "w", "r", drawer.id)
    await services.delete_room(CALLER, "w", "r")
    await services.delete_wing(CALLER, "w")
    told = [(entry["kind"], entry["action"]) for change in await read_changes(palace, 0) for entry in change.entries]
    assert told[3:] == [("drawer", "deleted"), ("room", "deleted"), ("wing", "deleted")]


async def test_a_refused_transaction_tells_nothing(palace: Store) -> None:
    with pytest.raises(TransactionRefused):
        await palace.transact(announce(now(), Change("wing", "created", "x")), Fragment("THROW 'no';"))
    assert await read_changes(palace, 0) == []


async def test_stamps_grow_in_commit_order_and_reading_resumes_at_one(palace: Store) -> None:
    await asyncio.gather(*(services.create_drawer(CALLER, "w", f"r{n}", f"text {n}") for n in range(12)))
    everything = await read_changes(palace, 0)
    stamps = [change.stamp for change in everything]
    assert stamps == sorted(set(stamps))
    assert await read_changes(palace, stamps[5]) == everything[5:]


async def test_old_entries_are_purged(palace: Store) -> None:
    await palace.transact(announce(now(), Change("wing", "created", "x")))
    await purge_changes(palace, now())
    assert len(await palace.first("SELECT id FROM change;")) == 1
    await purge_changes(palace, add_seconds(now(), KEEP_SECONDS + 1))
    assert await palace.first("SELECT id FROM change;") == []
