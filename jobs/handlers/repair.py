"""Removes drawers whose room is gone. It looks for them anew in each run, so a stopped repair starts again."""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import Any

from jobs import services
from jobs.domain.job import Progress
from jobs.runtime.run import JobRun, Unit
from jobs.store import audit as store
from palace.domain.modes import Caller
from palace.services import remove_orphan
from palace.store import current

logger = logging.getLogger("memcastle.jobs")

Report = dict[str, Any]
Steps = Generator[Unit, None, Report]


def repair(run: JobRun) -> Steps:
    """Says what it would remove, or removes it, one drawer a unit.

    With `based_on_job` only what that audit found is looked at. A cancelled repair leaves what it has removed as its
    report; a dry run removes nothing, so it goes on to its end.
    """
    dry_run, audit = run.job.params["dry_run"], run.job.params["based_on_job"]
    findings = None if audit is None else run.call(services.audited_orphans(audit))
    actions: list[Report] = []

    def report() -> Report:
        return {"dry_run": dry_run, "based_on_job": audit, "actions": actions, "generated_at": run.now()}

    orphans: list[store.AuditedDrawer] = []
    seen = 0
    after = store.BEFORE_ALL
    while page := run.call(store.drawer_page(current(), after)):
        orphans += [drawer for drawer in page if drawer.wing is None and (findings is None or drawer.id in findings)]
        seen += len(page)
        after = page[-1].id
        told = Progress(seen, None, f"{seen} drawers read")
        yield Unit(told, heeds_cancel=False) if dry_run else Unit(told, report=report())
    logger.info("repairing", extra={"job_id": run.job.id, "orphans": len(orphans), "dry_run": dry_run})
    if dry_run:
        actions += [_action(orphan) for orphan in orphans]
        return report()
    caller = Caller(requested_by=run.job.requested_by)
    for number, orphan in enumerate(orphans, 1):
        progress = Progress(number, len(orphans), f"{number} of {len(orphans)} orphans")
        if removed := run.call(remove_orphan(caller, orphan.id, orphan.room, run.checkpoint_fragment({}, progress))):
            actions.append(_action(orphan))
        yield Unit(progress, saved=removed, report=report())
    return report()


def _action(orphan: store.AuditedDrawer) -> Report:
    return {"action": "remove_orphan_drawer", "drawer_id": orphan.id, "room": orphan.room}
