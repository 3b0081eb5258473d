from __future__ import annotations

from typing import Any

import pytest

from jobs import kinds, store
from jobs.domain.job import Complete, Job, Priority, apply
from jobs.store import runs
from palace.clock import now
from palace.domain.clock import add_seconds
from palace.errors import StoreMalformed
from palace.store import Store
from tests.jobs.support import Gate, kind, submit


@pytest.fixture(autouse=True)
def two_lanes(registered: None) -> None:
    kinds.register(kind("work", Gate().handler))
    kinds.register(kind("chore", Gate().handler, priority=Priority.BACKGROUND, background=True))


async def claim(palace: Store, *, allow_background: bool = True) -> Job | None:
    at = now()
    return await store.claim(palace, "worker", at, add_seconds(at, 30), allow_background=allow_background)


async def claimed_ids(palace: Store, **options: bool) -> list[str]:
    found = []
    while job := await claim(palace, **options):
        found.append(job.id)
    return found


async def test_highest_priority_first_then_oldest(palace: Store) -> None:
    order = [Priority.LOW, Priority.CRITICAL, Priority.NORMAL, Priority.CRITICAL, Priority.BACKGROUND, Priority.HIGH]
    jobs = [await submit("work", priority=priority) for priority in order]
    expected = sorted(jobs, key=lambda job: (-job.priority, job.created_at))
    assert await claimed_ids(palace) == [job.id for job in expected]


async def test_the_two_lanes_are_one_order(palace: Store) -> None:
    jobs = [await submit(type, priority=Priority.NORMAL) for type in ("chore", "work", "chore", "work")]
    assert await claimed_ids(palace) == [job.id for job in jobs]


async def test_background_jobs_are_skipped_while_their_places_are_taken(palace: Store) -> None:
    chore = await submit("chore", priority=Priority.CRITICAL)
    work = await submit("work")
    assert await claimed_ids(palace, allow_background=False) == [work.id]
    assert await claimed_ids(palace) == [chore.id]


async def test_a_claim_makes_the_worker_the_owner(palace: Store) -> None:
    submitted = await submit("work")
    job = await claim(palace)
    assert job is not None
    assert job == await store.read(palace, submitted.id)
    assert (job.status, job.attempt, job.lease_owner) == ("running", 1, "worker")
    assert job.started_at is not None
    assert job.lease_expires_at == add_seconds(job.started_at, 30)


async def test_jobs_of_one_exclusive_key_run_one_at_a_time(palace: Store) -> None:
    first, second, other = [await submit("work", exclusive=key) for key in ("a", "a", "b")]
    assert await claimed_ids(palace) == [first.id, other.id]
    running = await store.read(palace, first.id)
    assert running is not None
    await store.transition(palace, running, apply(running, Complete(), now()), now())
    assert await claimed_ids(palace) == [second.id]


async def test_a_claim_that_loses_the_race_for_a_key_takes_something_else(
    palace: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two daemons look at the same instant, before either has claimed: both see the key free."""
    first = await submit("work", exclusive="a")
    second = await submit("work", exclusive="a")
    free = await submit("work")
    assert (await claim(palace)).id == first.id  # type: ignore[union-attr]
    real = runs.due
    outdated = [second]

    async def due(*arguments: Any, **options: Any) -> Job | None:
        return outdated.pop() if outdated else await real(*arguments, **options)

    monkeypatch.setattr(runs, "due", due)
    assert (await claim(palace)).id == free.id  # type: ignore[union-attr]
    untouched = await store.read(palace, second.id)
    assert untouched is not None
    assert (untouched.status, untouched.attempt) == ("queued", 0)


async def test_a_claim_reads_one_row_of_each_lane_however_many_wait(palace: Store) -> None:
    """Without its index a claim would read, and sort, the whole queue."""
    for number in range(40):
        await submit("work" if number % 2 else "chore")
    for lane in (runs.FIRST_OF_FOREGROUND, runs.FIRST_OF_BACKGROUND):
        plan = (await palace.query(f"LET $held = []; {lane.strip().removesuffix(';')} EXPLAIN FULL;"))[1]
        operators = {step["operator"]: step for step in _steps(plan)}
        assert operators["IndexScan"]["attributes"]["index"] == "job_claim"
        assert not any(operator.startswith("Sort") for operator in operators)


def _steps(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(step for child in plan.get("children", []) for step in _steps(child))]


async def test_a_priority_that_is_none_of_the_five_is_an_error(palace: Store) -> None:
    job = await submit("work")
    await palace.query("UPDATE type::record('job', $id) SET priority = 51", id=job.id)
    with pytest.raises(StoreMalformed, match=job.id):
        await claim(palace)
