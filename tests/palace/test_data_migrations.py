"""Data steps: watermark, lock, fail closed."""

from __future__ import annotations

import asyncio

import pytest

from memcastle_site.schema_files import definitions
from palace.errors import MigrationFailed, MigrationLocked
from palace.store import Store
from palace.store.migrations import Step, migrate, migration_status


def step(version: int, log: list[int], *, fails: bool = False) -> Step:
    async def run(store: Store) -> None:
        if fails:
            raise RuntimeError("disk on fire")
        log.append(version)

    return Step(version, f"step-{version}", run)


async def test_pending_steps_run_in_order_and_only_once(palace: Store) -> None:
    ran: list[int] = []
    steps = [step(1, ran), step(2, ran)]
    assert (await migration_status(palace, steps)).pending == ("step-1", "step-2")
    report = await migrate(palace, definitions(), steps)
    assert (report.from_version, report.to_version, report.applied) == (0, 2, ("step-1", "step-2"))
    assert (await migrate(palace, definitions(), steps)).applied == ()
    assert ran == [1, 2]


async def test_a_failed_step_keeps_the_watermark_at_the_last_success(palace: Store) -> None:
    ran: list[int] = []
    with pytest.raises(MigrationFailed, match=r"step 2 .*disk on fire"):
        await migrate(palace, definitions(), [step(1, ran), step(2, ran, fails=True), step(3, ran)])
    assert (await migration_status(palace, [step(1, ran), step(2, ran), step(3, ran)])).current_version == 1
    await migrate(palace, definitions(), [step(1, ran), step(2, ran), step(3, ran)])
    assert ran == [1, 2, 3]


async def test_a_second_migration_at_the_same_time_is_refused(palace: Store) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def slow(store: Store) -> None:
        entered.set()
        await leave.wait()

    first = asyncio.create_task(migrate(palace, definitions(), [Step(1, "slow", slow)]))
    await entered.wait()
    with pytest.raises(MigrationLocked):
        await migrate(palace, definitions(), [Step(1, "slow", slow)], patience=0)
    leave.set()
    assert (await first).applied == ("slow",)


async def test_the_lock_of_a_dead_process_is_taken_over_once_it_expired(palace: Store) -> None:
    stale = "UPDATE migration_state:state SET lock_owner = 'pid:1:gone', lock_expires_at = '2000-01-01T00:00:00.000000000Z';"
    await palace.query(stale)
    ran: list[int] = []
    assert (await migrate(palace, definitions(), [step(1, ran)])).applied == ("step-1",)


async def test_a_lock_that_a_killed_daemon_left_in_its_own_palace_holds_nobody_up(palace: Store) -> None:
    """No other process can have the directory open, so nobody lives who could hold the lock."""
    left = "UPDATE migration_state:state SET lock_owner = 'pid:1:gone', lock_expires_at = '2999-01-01T00:00:00.000000000Z';"
    await palace.query(left)
    ran: list[int] = []
    assert (await migrate(palace, definitions(), [step(1, ran)], patience=0)).applied == ("step-1",)


async def test_a_palace_of_a_newer_version_is_not_touched(palace: Store) -> None:
    await migrate(palace, definitions(), [step(1, []), step(2, [])])
    with pytest.raises(MigrationFailed, match="version 2"):
        await migrate(palace, definitions(), [step(1, [])])


async def test_status_takes_no_lock_and_writes_nothing(palace: Store) -> None:
    await palace.query("DELETE migration_state;")
    assert (await migration_status(palace, [step(1, [])])).current_version == 0
    assert await palace.first("SELECT * FROM migration_state;") == []
