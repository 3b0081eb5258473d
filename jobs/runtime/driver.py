"""Drives a handler through its units, in a worker's thread, and says how the run ended."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from dataclasses import dataclass

from jobs import kinds, store
from jobs.domain.job import Complete, Fail
from jobs.errors import LeaseLost
from jobs.runtime.run import Abandoned, JobRun, Unit
from palace.errors import MemCastleError
from palace.store import StoreUnreachable, TransactionRefused, current

logger = logging.getLogger("memcastle.jobs")


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run ended early at a boundary; what was asked of the job decides what it becomes."""

    report: kinds.Params | None = None
    """What the job leaves as its result if it becomes a cancelled one."""
    reason: str = "the daemon stopped"
    """Why it ended early, when nobody asked for it."""


class Dropped:
    """The job belongs to another worker; nothing may be written to it."""


Ending = Complete | Fail | Stopped
Outcome = Ending | Dropped


def drive(run: JobRun) -> Outcome:
    """Runs the job's handler to its end, or to the first boundary at which it must stop. Never raises."""
    kind = kinds.find(run.job.kind)
    if kind is None:
        return Fail(f"this daemon cannot run jobs of the kind {run.job.kind!r}")
    try:
        with run.driven():
            return _handled(run, kind)
    except Abandoned:
        return Dropped()


def _handled(run: JobRun, kind: kinds.JobKind) -> Outcome:
    try:
        return _through_units(run, kind.handler(run))
    except (LeaseLost, Abandoned):
        return Dropped()
    except TransactionRefused as refusal:
        return Dropped() if refusal.reason == store.LEASE_LOST else _fault(run, refusal)
    except StoreUnreachable as error:
        # No fault of the job. Whether its last write was carried out or not, the next run finds out.
        return Stopped(reason=error.message)
    except MemCastleError as error:
        return Fail(error.message)
    except BaseException as error:
        return _fault(run, error)


def _fault(run: JobRun, error: BaseException) -> Fail:
    logger.error("a job handler broke", extra={"job_id": run.job.id, "job_type": run.job.kind}, exc_info=error)
    return Fail(f"the handler of {run.job.kind} jobs broke ({type(error).__name__}); the daemon's log has the traceback")


def _through_units(run: JobRun, units: Generator[Unit, None, kinds.Params | None]) -> Outcome:
    report: kinds.Params | None = None
    try:
        while True:
            if run.lost:
                return Dropped()
            if run.interrupted:
                return Stopped(_report(report))
            try:
                unit = next(units)
            except StopIteration as end:
                return Complete(_report(end.value))
            requests = run.call(_saved(run, unit))
            run.moved = time.monotonic()
            report = unit.report
            if unit.heeds_cancel if requests.cancel else requests.pause:
                return Stopped(_report(report))
    finally:
        _close(run, units)


async def _saved(run: JobRun, unit: Unit) -> store.Requests:
    if unit.saved:
        return await store.requests(current(), run.job, run.worker)
    now = run.now()
    return await store.save_checkpoint(current(), run.job, run.worker, unit.checkpoint, unit.progress, now, run.lease_from(now))


def _report(value: kinds.Params | None) -> kinds.Params | None:
    """The result, once it is known that it can be stored. Raises SerializationFailed."""
    if value is not None:
        store.json_text(value)
    return value


def _close(run: JobRun, units: Generator[Unit, None, kinds.Params | None]) -> None:
    try:
        units.close()
    except Exception as error:
        logger.error("a job handler broke while it was being closed", extra={"job_id": run.job.id}, exc_info=error)
