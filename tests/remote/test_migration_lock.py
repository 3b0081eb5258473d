"""Who may change a shared palace: one at a time, never an older version, and nobody waits for the dead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from memcastle_site.schema_files import definitions
from palace.errors import MigrationFailed, MigrationLocked
from palace.store import Store
from palace.store.migration_lock import LOCK_LOST, MigrationLock
from palace.store.migrations import Step, migrate, migration_status
from palace.store.schema import Definition
from tests.remote.support import Host, connected
from tests.support import PATIENCE_SECONDS

EXTRA = Definition("INDEX", "extra", "drawer", "DEFINE INDEX extra ON drawer FIELDS tags")
HOLD = "UPDATE migration_state:state SET lock_owner = $owner, lock_expires_at = $until;"


@pytest.fixture
async def stores(host: Host, request: pytest.FixtureRequest) -> AsyncIterator[tuple[Store, Store]]:
    """Two daemons' connections to one palace that is up to date."""
    server = host.server(database=request.node.name)
    async with connected(server) as one, connected(server) as other:
        await migrate(one, definitions(), release="1.2.0")
        yield one, other


async def indexes(store: Store) -> set[str]:
    return set((await store.first("INFO FOR TABLE drawer;"))["indexes"])


def step(version: int, log: list[int], *, entered: asyncio.Event | None = None, leave: asyncio.Event | None = None) -> Step:
    async def run(store: Store) -> None:
        log.append(version)
        if entered is not None and leave is not None:
            entered.set()
            await leave.wait()

    return Step(version, f"step-{version}", run)


async def test_a_second_daemon_waits_and_repeats_nothing(stores: tuple[Store, Store]) -> None:
    one, other = stores
    ran: list[int] = []
    entered, leave = asyncio.Event(), asyncio.Event()
    steps = [step(1, ran, entered=entered, leave=leave)]
    first = asyncio.create_task(migrate(one, definitions(), steps))
    await entered.wait()
    second = asyncio.create_task(migrate(other, definitions(), steps))
    with pytest.raises(MigrationLocked, match=r"another process \(pid:\d+\) is migrating"):
        await migrate(other, definitions(), steps, patience=0.2)
    assert not second.done()
    leave.set()
    assert ((await first).applied, (await second).applied, ran) == (("step-1",), (), [1])


async def test_the_lock_of_a_holder_that_lives_is_renewed(stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch) -> None:
    """Held for several times the length of its lease."""
    one, other = stores
    monkeypatch.setattr("palace.store.migration_lock.LEASE_SECONDS", 1.5)
    monkeypatch.setattr("palace.store.migration_lock.RENEWAL_SECONDS", 0.1)
    async with MigrationLock(one, 0):
        with pytest.raises(MigrationLocked):
            async with MigrationLock(other, 4):
                pass
    async with MigrationLock(other, 0):
        pass


@pytest.mark.parametrize("until", ["2000-01-01T00:00:00.000000000Z", "2099-01-01T00:00:00.000000000Z"])
async def test_the_lock_of_a_dead_holder_is_taken_over(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch, until: str
) -> None:
    """Also when the clock of the dead one was ahead by years: what counts is that nobody renews it."""
    one, _ = stores
    monkeypatch.setattr("palace.store.migration_lock.LEASE_SECONDS", 0.5)
    await one.query(HOLD, owner="pid:1:gone", until=until)
    async with MigrationLock(one, PATIENCE_SECONDS):
        assert "gone" not in await one.first("SELECT VALUE lock_owner FROM ONLY migration_state:state;")


async def test_a_holder_that_lost_its_lock_changes_nothing_more(stores: tuple[Store, Store]) -> None:
    one, other = stores
    ran: list[int] = []
    entered, leave = asyncio.Event(), asyncio.Event()
    slow = asyncio.create_task(migrate(one, definitions(), [step(1, ran, entered=entered, leave=leave), step(2, ran)]))
    await entered.wait()
    await other.query(HOLD, owner="pid:1:thief", until="2099-01-01T00:00:00.000000000Z")
    leave.set()
    with pytest.raises(MigrationLocked, match="took over"):
        await slow
    assert ran == [1]
    assert (await migration_status(other)).current_version == 0
    assert await other.first("SELECT VALUE lock_owner FROM ONLY migration_state:state;") == "pid:1:thief"


async def test_definitions_are_not_changed_without_the_lock(stores: tuple[Store, Store]) -> None:
    from palace.store.connection import TransactionRefused
    from palace.store.schema import sync_schema

    one, other = stores
    async with MigrationLock(one, 0) as lock:
        await other.query(HOLD, owner="pid:1:thief", until="2099-01-01T00:00:00.000000000Z")
        with pytest.raises(TransactionRefused, match=LOCK_LOST):
            await sync_schema(one, [*definitions(), EXTRA], guard=lock.guard())
    assert "extra" not in await indexes(one)


async def test_a_palace_of_a_newer_data_version_is_left_as_it_is(stores: tuple[Store, Store]) -> None:
    one, other = stores
    await migrate(one, [*definitions(), EXTRA], [step(1, [])])
    with pytest.raises(MigrationFailed, match="data is at version 1, this MemCastle knows 0") as refused:
        await migrate(other, definitions(), remove=True)
    assert "newer MemCastle" in refused.value.help
    assert "extra" in await indexes(one)


async def test_an_older_release_leaves_the_definitions_of_a_newer_one(stores: tuple[Store, Store]) -> None:
    one, other = stores
    await migrate(one, [*definitions(), EXTRA], release="1.10.0")
    with pytest.raises(MigrationFailed, match=r"MemCastle 1\.10\.0 .* this is 1\.9\.9") as refused:
        await migrate(other, definitions(), release="1.9.9", remove=True)
    assert "Start MemCastle 1.10.0" in refused.value.help
    assert "extra" in await indexes(one)
    # With the same definitions there is nothing to spoil.
    await migrate(other, [*definitions(), EXTRA], release="1.9.9")
    assert await other.first("SELECT VALUE release FROM ONLY migration_state:state;") == "1.10.0"


async def test_what_is_in_no_file_stays_until_it_is_asked_for(stores: tuple[Store, Store]) -> None:
    """A daemon of the version before may be at work with it."""
    one, other = stores
    await migrate(one, [*definitions(), EXTRA], release="1.3.0")
    await migrate(other, definitions(), release="1.4.0")
    assert "extra" in await indexes(one)
    await migrate(other, definitions(), release="1.4.0", remove=True)
    assert "extra" not in await indexes(one)


async def test_a_failed_step_lets_the_lock_go(stores: tuple[Store, Store]) -> None:
    one, other = stores

    async def fails(store: Store) -> None:
        raise RuntimeError("disk on fire")

    with pytest.raises(MigrationFailed, match="disk on fire"):
        await migrate(one, definitions(), [Step(1, "fails", fails)])
    async with MigrationLock(other, 0):
        pass
