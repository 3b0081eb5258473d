"""Repairs: what they find, what they remove, what a stopped one leaves behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from jobs import services
from jobs.domain.job import Job, Status
from jobs.errors import BasedOnJobInvalid, JobIdInvalid
from jobs.handlers import repair as handler
from jobs.runtime.run import JobRun
from jobs.store import LEASE_LOST
from jobs.store import audit as scan
from palace.clock import now
from palace.domain.ids import new_id
from palace.domain.modes import Caller, MemoryMode
from palace.errors import ModeForbidden
from palace.signals import deletion_requested
from palace.store import Store, TransactionRefused
from palace.store.changes import read_changes
from tests.jobs.support import PATIENCE_SECONDS, StartScheduler, job, left_running, settled, submit
from tests.jobs.test_audit import planted_drawers, planted_room

CALLER = Caller(requested_by="an agent")


async def repaired(start_scheduler: StartScheduler, **asked: Any) -> Job:
    await start_scheduler()
    return await settled((await services.submit_repair(CALLER, **asked)).id)


async def drawers(palace: Store) -> set[str]:
    return set(await palace.first("SELECT VALUE record::id(id) FROM drawer;"))


def removals(orphans: list[str], room: str) -> list[dict[str, str]]:
    return [{"action": "remove_orphan_drawer", "drawer_id": orphan, "room": room} for orphan in sorted(orphans)]


async def test_a_repair_is_a_dry_run_unless_told_otherwise(palace: Store, start_scheduler: StartScheduler) -> None:
    lost = new_id()
    await planted_drawers(palace, 3, await planted_room(palace, "home"))
    orphans = await planted_drawers(palace, 2, lost)
    before, told = await drawers(palace), len(await read_changes(palace, 0))
    done = await repaired(start_scheduler)
    report = dict(done.result or {})
    assert report.pop("generated_at") <= now()
    assert report == {"dry_run": True, "based_on_job": None, "actions": removals(orphans, lost)}
    assert (done.status, done.params) == (Status.COMPLETED, {"dry_run": True, "based_on_job": None})
    assert await drawers(palace) == before
    assert {entry["kind"] for stamped in (await read_changes(palace, 0))[told:] for entry in stamped.entries} == {"job"}


async def test_an_applied_repair_removes_the_orphans_and_nothing_else(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "PAGE_ROWS", 2)
    lost = new_id()
    kept = await planted_drawers(palace, 5, await planted_room(palace, "home"), new_id())
    orphans = await planted_drawers(palace, 3, lost)
    done = await repaired(start_scheduler, dry_run=False)
    assert (done.result or {})["actions"] == removals(orphans, lost)
    assert ((done.result or {})["dry_run"], done.checkpoint) == (False, {})
    assert (done.progress.current, done.progress.total) == (3, 3)
    assert await drawers(palace) == set(kept)
    entries = [entry for stamped in await read_changes(palace, 0) for entry in stamped.entries]
    deleted = [entry["id"] for entry in entries if (entry["kind"], entry["action"]) == ("drawer", "deleted")]
    assert deleted == sorted(orphans)
    again = await settled((await services.submit_repair(CALLER, dry_run=False)).id)
    assert (again.result or {})["actions"] == []


async def test_an_audit_narrows_what_is_repaired(palace: Store, start_scheduler: StartScheduler) -> None:
    lost = new_id()
    found = await planted_drawers(palace, 2, lost)
    await start_scheduler()
    audit = await settled((await services.submit_audit(CALLER)).id)
    gone, stays = sorted(found)
    await palace.query("DELETE type::record('drawer', $id)", id=gone)
    later = await planted_drawers(palace, 1, lost)
    done = await settled((await services.submit_repair(CALLER, dry_run=False, based_on_job=audit.id.upper())).id)
    assert (done.result or {})["based_on_job"] == audit.id
    assert (done.result or {})["actions"] == removals([stays], lost)
    assert await drawers(palace) == set(later)


async def test_a_repair_is_based_on_a_completed_audit_only(palace: Store, start_scheduler: StartScheduler) -> None:
    queued = await services.submit_audit(CALLER)
    failed = await left_running(kind="audit", status="failed")
    silent = await left_running(kind="audit", status="completed")
    other = await submit("demo", {"steps": 0})
    before = len(await services.list_jobs(CALLER))
    for based_on, message in (
        (queued.id, "queued audit"),
        (failed.id, "failed audit"),
        (silent.id, "no completed audit with a report"),
        (other.id, "queued demo"),
        (new_id(), "no job"),
    ):
        with pytest.raises(BasedOnJobInvalid, match=message):
            await services.submit_repair(CALLER, based_on_job=based_on)
    with pytest.raises(JobIdInvalid):
        await services.submit_repair(Caller(MemoryMode.READ_ONLY), dry_run=False, based_on_job="7")
    assert len(await services.list_jobs(CALLER)) == before


async def test_the_audit_is_looked_at_again_when_the_repair_runs(palace: Store, start_scheduler: StartScheduler) -> None:
    orphans = await planted_drawers(palace, 1, new_id())
    scheduler = await start_scheduler()
    audit = await settled((await services.submit_audit(CALLER)).id)
    await scheduler.drain(20)
    asked = await services.submit_repair(CALLER, dry_run=False, based_on_job=audit.id)
    await palace.query("DELETE type::record('job', $id)", id=audit.id)
    await start_scheduler()
    failed = await settled(asked.id)
    assert (failed.status, failed.error) == (Status.FAILED, f"there is no job {audit.id} to base a repair on")
    assert await drawers(palace) == set(orphans)


async def test_only_an_applied_repair_writes_memory(palace: Store) -> None:
    for mode in (MemoryMode.READ_ONLY, MemoryMode.DISABLED):
        await services.submit_repair(Caller(mode))
        with pytest.raises(ModeForbidden, match=r"^repair "):
            await services.submit_repair(Caller(mode), dry_run=False)
    pending = [answer for _, answer in await deletion_requested.asend(sender=None)]
    applied = await services.submit_repair(CALLER, dry_run=False)
    assert (pending, applied.writes_palace) == ([0], True)
    assert [answer for _, answer in await deletion_requested.asend(sender=None)] == [1]


class Hold:
    """Holds a run back before one of its deletions, or of its pages, until the test has done what it came for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, before: int) -> None:
        self.reached, self._go = threading.Event(), threading.Event()
        real, calls = getattr(place, name), iter(range(1000))

        async def held(*arguments: Any) -> Any:
            if next(calls) == before:
                self.reached.set()
                assert await asyncio.to_thread(self._go.wait, PATIENCE_SECONDS)
            return await real(*arguments)

        monkeypatch.setattr(place, name, held)

    async def here(self) -> None:
        assert await asyncio.to_thread(self.reached.wait, PATIENCE_SECONDS)

    def let_go(self) -> None:
        self._go.set()


@pytest.fixture
def second_deletion(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hold]:
    hold = Hold(monkeypatch, handler, "remove_orphan", before=1)
    yield hold
    hold.let_go()


@pytest.fixture
def second_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hold]:
    monkeypatch.setattr(scan, "PAGE_ROWS", 1)
    hold = Hold(monkeypatch, scan, "drawer_page", before=1)
    yield hold
    hold.let_go()


async def test_a_cancelled_repair_leaves_the_report_of_what_it_has_removed(
    palace: Store, start_scheduler: StartScheduler, second_deletion: Hold
) -> None:
    lost = new_id()
    orphans = await planted_drawers(palace, 4, lost)
    await start_scheduler()
    asked = await services.submit_repair(CALLER, dry_run=False)
    await second_deletion.here()
    await services.cancel(asked.id)
    second_deletion.let_go()
    cancelled = await settled(asked.id)
    removed = removals(orphans, lost)[:2]
    assert (cancelled.status, (cancelled.result or {})["actions"]) == (Status.CANCELLED, removed)
    assert await drawers(palace) == set(orphans) - {action["drawer_id"] for action in removed}


async def test_a_repair_cancelled_before_its_first_deletion_removes_nothing_and_says_so(
    palace: Store, start_scheduler: StartScheduler, second_page: Hold
) -> None:
    orphans = await planted_drawers(palace, 3, new_id())
    await start_scheduler()
    asked = await services.submit_repair(CALLER, dry_run=False)
    await second_page.here()
    await services.cancel(asked.id)
    second_page.let_go()
    cancelled = await settled(asked.id)
    assert (cancelled.status, (cancelled.result or {})["actions"]) == (Status.CANCELLED, [])
    assert await drawers(palace) == set(orphans)


async def test_a_cancelled_dry_run_goes_on_to_its_end(
    palace: Store, start_scheduler: StartScheduler, second_page: Hold
) -> None:
    lost = new_id()
    orphans = await planted_drawers(palace, 3, lost)
    await start_scheduler()
    asked = await services.submit_repair(CALLER)
    await second_page.here()
    await services.cancel(asked.id)
    second_page.let_go()
    done = await settled(asked.id)
    assert (done.status, (done.result or {})["actions"]) == (Status.COMPLETED, removals(orphans, lost))


@pytest.mark.parametrize("dry_run", [True, False])
async def test_a_paused_repair_has_no_report_and_starts_again(
    palace: Store, start_scheduler: StartScheduler, second_page: Hold, dry_run: bool
) -> None:
    lost = new_id()
    orphans = await planted_drawers(palace, 3, lost)
    await start_scheduler()
    asked = await services.submit_repair(CALLER, dry_run=dry_run)
    await second_page.here()
    await services.pause(asked.id)
    second_page.let_go()
    paused = await settled(asked.id)
    assert (paused.status, paused.result, paused.checkpoint) == (Status.PAUSED, None, {})
    await services.resume(asked.id)
    done = await settled(asked.id, Status.COMPLETED)
    assert (done.result or {})["actions"] == removals(orphans, lost)


async def test_a_stopping_daemon_puts_a_repair_back_and_a_later_one_removes_the_rest(
    palace: Store, start_scheduler: StartScheduler, second_deletion: Hold
) -> None:
    lost = new_id()
    orphans = await planted_drawers(palace, 4, lost)
    scheduler = await start_scheduler()
    asked = await services.submit_repair(CALLER, dry_run=False)
    await second_deletion.here()
    drained = asyncio.ensure_future(scheduler.drain(PATIENCE_SECONDS))
    await asyncio.sleep(0)
    second_deletion.let_go()
    assert await drained == 0
    waiting = await job(asked.id)
    assert (waiting.status, waiting.result, waiting.recovery_attempts) == (Status.QUEUED, None, 0)
    await start_scheduler()
    done = await settled(asked.id, Status.COMPLETED)
    assert (done.result or {})["actions"] == removals(orphans, lost)[2:]
    assert await drawers(palace) == set()


async def test_a_repair_that_lost_its_job_removes_nothing(palace: Store) -> None:
    orphans = await planted_drawers(palace, 2, new_id())
    running = await left_running(kind="repair", worker="another worker")
    late = JobRun(replace(running, params={"dry_run": False, "based_on_job": None}), "late worker", 30)
    with pytest.raises(TransactionRefused, match=LEASE_LOST):
        await asyncio.to_thread(list, handler.repair(late))
    assert await drawers(palace) == set(orphans)


async def test_a_drawer_that_has_a_room_by_the_time_it_is_to_be_removed_stays(
    palace: Store, start_scheduler: StartScheduler, second_deletion: Hold
) -> None:
    """Every deletion looks again inside its own transaction."""
    lost = new_id()
    orphans = sorted(await planted_drawers(palace, 3, lost))
    await start_scheduler()
    asked = await services.submit_repair(CALLER, dry_run=False)
    await second_deletion.here()
    await palace.query(
        "CREATE type::record('room', $id) CONTENT { wing: 'w', name: 'back', created_at: $at };", id=lost, at=now()
    )
    second_deletion.let_go()
    done = await settled(asked.id)
    assert (done.result or {})["actions"] == removals(orphans[:1], lost)
    assert await drawers(palace) == set(orphans[1:])
