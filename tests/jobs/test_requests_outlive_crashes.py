from __future__ import annotations

from typing import Any

import pytest

from jobs import kinds, services
from jobs.domain.job import Status
from jobs.runtime.scheduler import Scheduler
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, job, kind, left_running, settled, submit


async def test_a_pause_or_cancel_is_stored_before_it_is_answered(start_scheduler: StartScheduler) -> None:
    gate = Gate()
    kinds.register(kind("gated", gate.handler))
    await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    await services.pause(submitted.id)
    assert (await job(submitted.id)).pause_requested
    await services.cancel(submitted.id)
    stored = await job(submitted.id)
    assert (stored.status, stored.pause_requested, stored.cancel_requested) == (Status.RUNNING, True, True)
    gate.let()
    await settled(submitted.id)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ({"cancel_requested": True}, Status.CANCELLED),
        ({"pause_requested": True}, Status.PAUSED),
        ({"pause_requested": True, "cancel_requested": True}, Status.CANCELLED),
    ],
    ids=["cancel", "pause", "cancel beats pause"],
)
async def test_recovery_does_what_was_asked_and_charges_nothing(
    palace: Store, requests: dict[str, Any], expected: Status
) -> None:
    crashed = await left_running(recovery_attempts=2, checkpoint={"done": 7}, **requests)
    assert await Scheduler().recover() == 1
    found = await job(crashed.id)
    assert (found.status, found.recovery_attempts, found.checkpoint) == (expected, 2, {"done": 7})
    assert not found.pause_requested
    assert not found.cancel_requested
    assert found.lease_owner is None
