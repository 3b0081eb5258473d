from __future__ import annotations

import pytest

from jobs import kinds, services
from jobs.domain.job import Status
from jobs.errors import TransitionInvalid
from jobs.runtime.scheduler import Scheduler
from palace.store import Store
from tests.jobs.support import Gate, StartScheduler, kind, left_running, settled, submit, told_of


async def test_every_change_of_a_job_is_told_in_order(palace: Store, start_scheduler: StartScheduler) -> None:
    gate = Gate(units=2)
    kinds.register(kind("gated", gate.handler))
    await start_scheduler()
    submitted = await submit("gated")
    await gate.under_way()
    await services.pause(submitted.id)
    gate.let()
    await settled(submitted.id, Status.PAUSED)
    await services.cancel(submitted.id)
    assert await told_of(submitted.id) == [
        ("created", "queued"),
        ("updated", "running"),
        ("updated", "running"),
        ("updated", "running"),
        ("updated", "paused"),
        ("updated", "cancelled"),
    ]


async def test_a_recovery_is_told(palace: Store) -> None:
    crashed = await left_running()
    await Scheduler().recover()
    assert await told_of(crashed.id) == [("created", "queued"), ("updated", "queued")]


async def test_what_was_refused_is_not_told(palace: Store) -> None:
    submitted = await submit("demo", {"steps": 1})
    await services.cancel(submitted.id)
    with pytest.raises(TransitionInvalid):
        await services.cancel(submitted.id)
    assert len(await told_of(submitted.id)) == 2
