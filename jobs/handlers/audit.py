"""A report on the consistency of the palace. It only reads, so a stopped audit starts again from nothing."""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import Any

from jobs.domain.job import Progress
from jobs.runtime.run import JobRun, Unit
from jobs.store import audit as store
from palace.store import current

logger = logging.getLogger("memcastle.jobs")


def audit(run: JobRun) -> Generator[Unit, None, dict[str, Any]]:
    """Looks for drawers without a room and drawers of unknown jobs, in the whole palace, and counts.

    `wing` limits what is counted; orphans have no wing, so they are always looked for everywhere. An unknown wing
    counts nothing.
    """
    wing = run.job.params.get("wing")
    scope = None if wing is None else run.call(store.wings_named(current(), wing))
    counts = run.call(store.audit_counts(current(), run.job.id))
    logger.info("auditing", extra={"job_id": run.job.id, "drawers": counts.drawers})
    yield Unit(Progress(0, counts.drawers, "counted jobs"))
    orphans, dangling = [], []
    seen = in_scope = 0
    after = store.BEFORE_ALL
    while page := run.call(store.drawer_page(current(), after)):
        orphans += [{"drawer_id": drawer.id, "room": drawer.room} for drawer in page if drawer.wing is None]
        dangling += [{"drawer_id": drawer.id, "job_id": drawer.job} for drawer in page if not drawer.job_exists]
        in_scope += sum(drawer.wing is not None and (scope is None or drawer.wing in scope) for drawer in page)
        seen += len(page)
        after = page[-1].id
        yield Unit(Progress(seen, max(seen, counts.drawers), "reading drawers"))
    return {
        "wing": wing,
        "orphan_drawers": orphans,
        "dangling_provenance_drawers": dangling,
        "stuck_failed_jobs": counts.stuck,
        "running_jobs": counts.running,
        # The palace keeps no vectors, so no drawer has one.
        "drawers_without_embedding": in_scope,
        "total_drawers_in_scope": in_scope,
        "generated_at": run.now(),
    }
