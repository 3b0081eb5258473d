"""What another daemon asked of a job is found with it, by the next beat at the latest."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from jobs import kinds, store
from jobs.domain.job import Cancel, Pause, Progress, Status
from jobs.runtime import scheduler as module
from jobs.runtime.run import JobRun, Unit
from palace.clock import now
from palace.domain.ids import new_id
from palace.events import ChangeTailer
from palace.store import Store, current
from tests.jobs.support import StartScheduler, Steps, job, kind, settled, submit

LONG_SECONDS = 600.0


class Waiting:
    """A handler with one unit that only a notice ends."""

    def __init__(self) -> None:
        self.entered = threading.Event()

    def handler(self, run: JobRun) -> Steps:
        self.entered.set()
        run.wait(LONG_SECONDS)
        yield Unit(Progress(1, 2))
        return None


async def test_a_waiting_run_hears_of_it(palace: Store, start_scheduler: StartScheduler) -> None:
    for event, status in ((Pause(), Status.PAUSED), (Cancel(), Status.CANCELLED)):
        waiting = Waiting()
        kinds._kinds["waiting"] = kind("waiting", waiting.handler)
        await start_scheduler(lease_ttl_secs=1)
        submitted = await submit("waiting")
        await settled(submitted.id, Status.RUNNING)
        await store.request_stop(current(), await job(submitted.id), event, now())
        assert (await settled(submitted.id)).status is status


async def test_a_job_queued_elsewhere_wakes_the_workers(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", LONG_SECONDS)
    await start_scheduler()
    await settled((await submit("demo", {"steps": 0})).id)
    elsewhere = replace(await submit("demo", {"steps": 0}), id=new_id())
    await store.insert(current(), elsewhere)
    tailer = ChangeTailer(palace)
    await tailer.start()
    assert (await settled(elsewhere.id)).status is Status.COMPLETED
    await tailer.stop()
