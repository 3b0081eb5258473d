from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from jobs.runtime.scheduler import Scheduler
from memcastle_site import wiring
from palace.store import Store


@pytest.fixture
async def workers(palace: Store) -> AsyncIterator[Scheduler]:
    """The workers of a daemon, at work in this process on the palace of the test."""
    wiring.connect()
    scheduler = Scheduler()
    await scheduler.start()
    yield scheduler
    assert await scheduler.drain(20) == 0
