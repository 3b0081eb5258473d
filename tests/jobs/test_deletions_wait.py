from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from jobs import kinds, services
from palace.signals import deletion_requested
from palace.store import Store
from tests.jobs.support import Gate, kind, left_running, submit


@pytest.fixture(autouse=True)
def writers(registered: None) -> None:
    kinds.register(kind("writes", Gate().handler, writes_palace=True))


async def pending() -> int:
    answers: Sequence[tuple[object, Any]] = await deletion_requested.asend(sender=None)
    return sum(count for _, count in answers)


async def test_jobs_that_write_to_the_palace_hold_deletions_back_until_they_have_ended(palace: Store) -> None:
    await submit("demo", {"steps": 1})
    assert await pending() == 0
    first, _ = [await submit("writes") for _ in range(2)]
    await left_running(kind="writes", writes_palace=True)
    await left_running(kind="writes", writes_palace=True, status="paused")
    await left_running(kind="writes", writes_palace=True, status="failed")
    assert await pending() == 4
    await services.cancel(first.id)
    assert await pending() == 3
