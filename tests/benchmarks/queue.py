"""What a long queue costs: the first claims of 2,000 waiting jobs beside the last ones, and a daemon with nothing to do."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

import django

from jobs import services, store
from jobs.conf import JobsConfig
from jobs.domain.job import Status
from jobs.runtime.scheduler import Scheduler
from memcastle_site.schema_files import definitions
from palace import store as palace_store
from palace.configuration import overridden
from palace.domain.modes import Caller
from palace.store.migrations import migrate
from tests.benchmarks.meter import cpu_of
from tests.support import Daemon

JOBS = 2000
SAMPLE = 100
IDLE_SECONDS = 60


def main() -> None:
    """Runs both benchmarks."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcastle_site.settings")
    django.setup()
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(queue(Path(scratch) / "palace"))
        idle(Path(scratch) / "home")


async def queue(directory: Path) -> None:
    """Queues all jobs, then lets four workers run them; what is timed is the look for a job with its claim."""
    # The REST framework reads Django's settings as soon as it is imported.
    from jobs import wiring

    palace = await palace_store.open_embedded(directory)
    palace_store.install(palace)
    try:
        await migrate(palace, definitions())
        wiring.connect()
        began = time.perf_counter()
        for number in range(JOBS):
            await services.submit("demo", {"steps": number % 2 and 1}, Caller(requested_by="benchmark"))
        print(f"{JOBS} jobs queued                   {JOBS / (time.perf_counter() - began):7.0f} a second")
        times = await _drained()
        _told(times)
    finally:
        palace_store.install(None)
        await palace.close()


async def _drained() -> list[float]:
    times: list[float] = []
    real = store.claim

    async def timed(*arguments: object, **options: object) -> object:
        began = time.perf_counter()
        job = await real(*arguments, **options)  # type: ignore[arg-type]
        if job is not None:
            times.append(time.perf_counter() - began)
        return job

    store.claim = timed  # type: ignore[assignment]
    with overridden(JobsConfig(max_concurrency=4)):
        scheduler = Scheduler()
    began = time.perf_counter()
    await scheduler.start()
    try:
        while (await services.counts())[Status.COMPLETED] < JOBS:
            # Counting goes over all rows, and would be timed with the claims beside it.
            await asyncio.sleep(3)
        print(f"{JOBS} jobs run                      {JOBS / (time.perf_counter() - began):7.0f} a second")
    finally:
        store.claim = real
        await scheduler.drain(20)
    return times


def _told(times: list[float]) -> None:
    first, last = (statistics.median(part) * 1000 for part in (times[:SAMPLE], times[-SAMPLE:]))
    print(f"{'a claim':34} first {SAMPLE}: p50 {first:5.1f} ms   last {SAMPLE}: p50 {last:5.1f} ms   ratio {last / first:.2f}")


def idle(home: Path) -> None:
    """Processor time of a daemon that has nothing to do, as a share of one core."""
    daemon = Daemon(home)
    try:
        daemon.start()
        daemon.ended(daemon.post("/api/jobs", {"type": "demo", "steps": 1})["id"])
        time.sleep(5)
        assert daemon.process is not None
        before = cpu_of(daemon.process.pid)
        time.sleep(IDLE_SECONDS)
        used = cpu_of(daemon.process.pid) - before
        print(f"idle daemon                        {used:7.2f} CPU s in {IDLE_SECONDS} s   {used / IDLE_SECONDS:.2%} of a core")
    finally:
        if daemon.process is not None:
            daemon.stop()


if __name__ == "__main__":
    main()
