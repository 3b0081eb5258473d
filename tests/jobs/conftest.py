from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jobs import kinds, wiring
from jobs.conf import JobsConfig
from jobs.runtime.scheduler import Scheduler
from palace import store
from palace.configuration import overridden
from palace.store import Store
from palace.store.schema import read_definitions, sync_schema
from tests.jobs.support import StartScheduler

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
async def palace(tmp_path: Path) -> AsyncIterator[Store]:
    """An empty palace, open in this process."""
    opened = await store.open_embedded(tmp_path / "db", sync="never")
    await sync_schema(opened, read_definitions([ROOT / "palace" / "schema", ROOT / "jobs" / "schema"]))
    store.install(opened)
    yield opened
    store.install(None)
    await opened.close()


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kinds of jobs itself; what a test registers beside them is forgotten."""
    monkeypatch.setattr(kinds, "_kinds", {})
    wiring.connect()


@pytest.fixture
async def start_scheduler(palace: Store) -> AsyncIterator[StartScheduler]:
    """Starts schedulers, with settings of `[jobs]` if given, and drains them after the test."""
    started: list[Scheduler] = []

    async def start(**settings: int) -> Scheduler:
        with overridden(JobsConfig(**settings)):
            scheduler = Scheduler()
        await scheduler.start()
        started.append(scheduler)
        return scheduler

    yield start
    for scheduler in started:
        assert await scheduler.drain(20) == 0
