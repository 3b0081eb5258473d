"""Connects jobs to the daemon: its own kinds, and its answer to whoever wants to delete a part of the palace."""

from __future__ import annotations

from typing import Any

from jobs import kinds, services, store
from jobs.api import AuditIn, DemoIn
from jobs.domain.job import Job, Priority
from jobs.handlers.audit import audit
from jobs.handlers.checkpoint import checkpoint
from jobs.handlers.demo import demo
from jobs.handlers.repair import repair
from jobs.schemas import CheckpointIn, RepairIn
from palace.domain.modes import Caller
from palace.signals import deletion_requested
from palace.store import current


async def _submit_demo(body: DemoIn, caller: Caller) -> Job:
    return await services.submit_demo(caller, body.steps)


async def _submit_audit(body: AuditIn, caller: Caller) -> Job:
    return await services.submit_audit(caller, body.wing)


async def _submit_checkpoint(body: CheckpointIn, caller: Caller) -> Job:
    items = [item.wish() for item in body.payload.items]
    return await services.submit_checkpoint(caller, items, emergency=body.emergency)


async def _submit_repair(body: RepairIn, caller: Caller) -> Job:
    return await services.submit_repair(caller, dry_run=body.dry_run, based_on_job=body.based_on_job)


def _applies(params: kinds.Params) -> bool:
    return not params["dry_run"]


DEMO = kinds.JobKind(
    type="demo",
    priority=Priority.NORMAL,
    background=False,
    writes_palace=kinds.never,
    request=DemoIn,
    submit=_submit_demo,
    handler=demo,
)
AUDIT = kinds.JobKind(
    type="audit",
    priority=Priority.NORMAL,
    background=False,
    writes_palace=kinds.never,
    request=AuditIn,
    submit=_submit_audit,
    handler=audit,
)

CHECKPOINT = kinds.JobKind(
    type="checkpoint",
    priority=Priority.HIGH,
    background=False,
    writes_palace=kinds.always,
    request=CheckpointIn,
    submit=_submit_checkpoint,
    handler=checkpoint,
)
REPAIR = kinds.JobKind(
    type="repair",
    priority=Priority.NORMAL,
    background=False,
    writes_palace=_applies,
    request=RepairIn,
    submit=_submit_repair,
    handler=repair,
)


async def pending_writers(**_: Any) -> int:
    """How many jobs that write to the palace have not ended."""
    return await store.pending_palace_writers(current())


def connect() -> None:
    """Registers the kinds and listens; safe to repeat."""
    kinds.register(DEMO)
    kinds.register(AUDIT)
    kinds.register(REPAIR)
    kinds.register(CHECKPOINT)
    deletion_requested.connect(pending_writers, dispatch_uid="jobs")
