"""Removing finished jobs with age."""

from __future__ import annotations

from jobs.domain.job import ENDS
from palace.domain.clock import Timestamp
from palace.store import Fragment, Store
from palace.store.changes import Change, announce

BATCH_JOBS = 200

_ENDED = ", ".join(f"'{status.value}'" for status in sorted(ENDS))
# An absent `completed_at` sorts before every text, so the range starts at the empty one.
AGED = f"""
SELECT record::id(id) AS id, kind.type AS kind, status FROM job
    WHERE completed_at > '' AND completed_at < $before AND status IN [{_ENDED}] LIMIT $jobs;
"""
# `DELETE … WHERE job IN $jobs` deletes nothing where an index of several fields begins with `job`, hence the loop.
REMOVE = f"""
LET $removed = (DELETE $removed_jobs.map(|$id| type::record('job', $id))
    WHERE completed_at > '' AND completed_at < $removed_before AND status IN [{_ENDED}] RETURN BEFORE);
IF array::len($removed) != array::len($removed_jobs) {{ THROW 'job_changed'; }};
FOR $removed_job IN $removed_jobs {{ DELETE job_log WHERE job = $removed_job RETURN NONE; }};
DELETE $removed_jobs.map(|$id| type::record('job_params', $id)) RETURN NONE;
INSERT IGNORE INTO job_removed
    $removed.filter(|$job| $job.writes_palace).map(|$job| {{ id: record::id($job.id), removed_at: $removed_at }}) RETURN NONE;
"""


async def remove_aged_jobs(store: Store, before: Timestamp, now: Timestamp) -> int:
    """Removes jobs that ended before that instant with their logs, at most `BATCH_JOBS`; returns how many.

    Those that wrote to the palace leave their id behind, because drawers go on naming the job they came from. Raises
    TransactionRefused when one of them was retried that very moment; nothing is removed then.
    """
    aged = await store.first(AGED, before=before, jobs=BATCH_JOBS)
    if not aged:
        return 0
    changes = [Change("job", "deleted", row["id"], (("job_kind", row["kind"]), ("status", row["status"]))) for row in aged]
    variables = {"removed_jobs": [row["id"] for row in aged], "removed_before": before, "removed_at": now}
    await store.transact(Fragment(REMOVE, variables), announce(now, *changes))
    return len(aged)
