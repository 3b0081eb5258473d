from __future__ import annotations

from typing import Any

import pytest

from jobs import services
from jobs.domain.job import Status
from jobs.store import audit as store
from palace.clock import now
from palace.domain.ids import new_id
from palace.domain.modes import Caller, MemoryMode
from palace.store import Store
from tests.jobs.support import StartScheduler, left_running, settled, submit


async def planted_room(palace: Store, wing: str) -> str:
    """A room of a new wing with that name."""
    ids = {"wing": new_id(), "room": new_id()}
    await palace.query(
        """CREATE type::record('wing', $wing) CONTENT { palace: 'p', name: $name, created_at: $at };
        CREATE type::record('room', $room) CONTENT { wing: $wing, name: 'r', created_at: $at };""",
        name=wing,
        at=now(),
        **ids,
    )
    return ids["room"]


async def planted_drawers(palace: Store, number: int, room: str, job: str | None = None) -> list[str]:
    at = now()
    rows: list[dict[str, Any]] = [
        {
            "id": new_id(),
            "room": room,
            "content": f"text {index}",
            "content_hash": f"{index}",
            "words": "",
            "source": {"kind": "manual"},
            "tags": [],
            "provenance": {"requested_by": "test", "job_id": job},
            "valid_from": at,
            "created_at": at,
            "updated_at": at,
        }
        for index in range(number)
    ]
    await palace.query("INSERT INTO drawer $rows RETURN NONE;", rows=rows)
    return [row["id"] for row in rows]


async def report(start_scheduler: StartScheduler, wing: str | None = None) -> dict[str, Any]:
    await start_scheduler()
    audit = await settled((await services.submit_audit(Caller(MemoryMode.DISABLED), wing)).id)
    assert (audit.status, audit.error, audit.checkpoint) == (Status.COMPLETED, None, {})
    return dict(audit.result or {})


async def test_an_empty_palace_is_in_order(start_scheduler: StartScheduler) -> None:
    found = await report(start_scheduler)
    assert found.pop("generated_at") <= now()
    assert found == {
        "wing": None,
        "orphan_drawers": [],
        "dangling_provenance_drawers": [],
        "stuck_failed_jobs": 0,
        "running_jobs": 0,
        "drawers_without_embedding": 0,
        "total_drawers_in_scope": 0,
    }


async def test_planted_damage_is_reported_whatever_page_it_lies_in(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PAGE_ROWS", 4)
    room = await planted_room(palace, "home")
    known, unknown, lost_room = (await submit("demo", {"steps": 0})).id, new_id(), new_id()
    await planted_drawers(palace, 9, room)
    await planted_drawers(palace, 3, room, known)
    dangling = await planted_drawers(palace, 3, room, unknown)
    orphans = await planted_drawers(palace, 3, lost_room)
    found = await report(start_scheduler)
    assert sorted(entry["drawer_id"] for entry in found["orphan_drawers"]) == sorted(orphans)
    assert {entry["room"] for entry in found["orphan_drawers"]} == {lost_room}
    assert sorted(entry["drawer_id"] for entry in found["dangling_provenance_drawers"]) == sorted(dangling)
    assert {entry["job_id"] for entry in found["dangling_provenance_drawers"]} == {unknown}
    assert found["total_drawers_in_scope"] == found["drawers_without_embedding"] == 15


async def test_a_wing_limits_the_counts_and_not_the_search_for_damage(palace: Store, start_scheduler: StartScheduler) -> None:
    await planted_drawers(palace, 2, await planted_room(palace, "here"))
    dangling = await planted_drawers(palace, 1, await planted_room(palace, "there"), new_id())
    await planted_drawers(palace, 1, new_id())
    found = await report(start_scheduler, "here")
    assert (found["wing"], found["total_drawers_in_scope"]) == ("here", 2)
    assert [entry["drawer_id"] for entry in found["dangling_provenance_drawers"]] == dangling
    assert len(found["orphan_drawers"]) == 1


async def test_an_unknown_wing_counts_nothing(palace: Store, start_scheduler: StartScheduler) -> None:
    await planted_drawers(palace, 2, await planted_room(palace, "here"))
    assert (await report(start_scheduler, "nowhere"))["total_drawers_in_scope"] == 0


async def test_jobs_that_need_somebody_are_counted(palace: Store, start_scheduler: StartScheduler) -> None:
    await left_running()
    await left_running(status="failed", recovery_attempts=3)
    await left_running(status="failed", recovery_attempts=1)
    found = await report(start_scheduler)
    assert (found["stuck_failed_jobs"], found["running_jobs"]) == (1, 1)


async def test_a_page_is_never_read_by_walking_past_the_ones_before_it(palace: Store) -> None:
    plan = await palace.first(store.PAGE.strip().removesuffix(";") + " EXPLAIN;", after=store.BEFORE_ALL, rows=5)
    assert "TableScan" not in str(plan)
