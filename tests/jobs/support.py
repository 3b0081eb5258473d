"""What the tests of jobs share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any

from jobs import kinds, services, store
from jobs.domain.job import Job, Priority, Progress, Status
from jobs.runtime.run import JobRun, Unit
from jobs.runtime.scheduler import Scheduler
from palace.clock import now
from palace.domain.clock import add_seconds
from palace.domain.ids import new_id
from palace.domain.modes import Caller
from palace.http import Body
from palace.store import current
from palace.store.changes import read_changes

PATIENCE_SECONDS = 20.0
DEAD_WORKER = "memcastle-0-deadbeef"
StartScheduler = Callable[..., Awaitable[Scheduler]]
SETTLED = (Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.PAUSED)


Steps = Generator[Unit, None, dict[str, Any] | None]


class NoFields(Body):
    """A submission that says nothing."""


async def no_submission(body: Body, caller: Caller) -> Job:
    raise AssertionError("this kind is submitted through the service only")


def kind(
    type: str,
    handler: kinds.Handler,
    *,
    priority: Priority = Priority.NORMAL,
    background: bool = False,
    writes_palace: bool = False,
) -> kinds.JobKind:
    return kinds.JobKind(
        type=type,
        priority=priority,
        background=background,
        writes_palace=kinds.always if writes_palace else kinds.never,
        request=NoFields,
        submit=no_submission,
        handler=handler,
    )


class Gate:
    """A handler whose units the test lets through one by one; it says when a unit is under way."""

    def __init__(self, units: int = 3) -> None:
        self.units = units
        self.entered = threading.Semaphore(0)
        self.closed = threading.Event()
        self.seen: list[int] = []
        self._passes = threading.Semaphore(0)

    def handler(self, run: JobRun) -> Generator[Unit, None, dict[str, Any]]:
        first = run.job.checkpoint.get("done", 0) + 1
        try:
            for number in range(first, self.units + 1):
                self.entered.release()
                if not self._passes.acquire(timeout=PATIENCE_SECONDS):
                    raise AssertionError("the test never let this unit pass")
                self.seen.append(number)
                yield Unit(Progress(number, self.units), {"done": number})
            return {"units": self.units}
        finally:
            self.closed.set()

    def let(self, units: int = 1) -> None:
        self._passes.release(units)

    async def under_way(self) -> None:
        assert await asyncio.to_thread(self.entered.acquire, timeout=PATIENCE_SECONDS)


async def submit(type: str, params: Mapping[str, Any] | None = None, **options: Any) -> Job:
    return await services.submit(type, params or {}, Caller(requested_by="test"), **options)


async def job(job_id: str) -> Job:
    found = await store.read(current(), job_id)
    assert found is not None
    return found


async def eventually(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.005)


async def settled(job_id: str, *statuses: Status) -> Job:
    """The job once it has one of the statuses, any settled one unless some are named."""
    wanted = statuses or SETTLED

    async def reached() -> bool:
        return (await job(job_id)).status in wanted

    await eventually(reached)
    return await job(job_id)


async def left_running(*, kind: str = "work", worker: str = DEAD_WORKER, expires_in: float = 30.0, **columns: Any) -> Job:
    """A job as a daemon leaves it that died while running it."""
    new = Job(
        id=new_id(),
        kind=kind,
        params={},
        priority=Priority.NORMAL,
        created_at=now(),
        requested_by="test",
        exclusive=columns.pop("exclusive", None),
    )
    await store.insert(current(), new)
    settings = {
        "status": "running",
        "attempt": 1,
        "lease_owner": worker,
        "lease_expires_at": add_seconds(now(), expires_in),
        **columns,
    }
    assignments = ", ".join(f"{name} = ${name}" for name in settings)
    await current().query(f"UPDATE type::record('job', $id) SET {assignments}", id=new.id, **settings)
    return await job(new.id)


async def told_of(job_id: str) -> list[tuple[str, str]]:
    """What the outbox says of a job, in order: actions and statuses."""
    entries = [entry for stamped in await read_changes(current(), 0) for entry in stamped.entries]
    return [(entry["action"], entry["status"]) for entry in entries if entry.get("id") == job_id]
