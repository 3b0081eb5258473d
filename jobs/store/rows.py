"""Jobs as rows.

The client leaves out the keys of an object whose value is None. Parameters, progress, checkpoints and results must
come back as they went in, so they cross as JSON text, which the database turns into objects and back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jobs.domain.job import Job, Priority, Progress, Status
from palace.errors import SerializationFailed, StoreMalformed
from palace.store.changes import Change

COLUMNS = """record::id(id) AS id, type::record('job_params', record::id(id)).params AS params,
    encoding::json::encode({ kind: kind, progress: progress, checkpoint: checkpoint, result: result }) AS documents,
    status, priority, background, writes_palace, exclusive, created_at, started_at, completed_at, requested_by,
    attempt, max_attempts, recovery_attempts, error, lease_owner, lease_expires_at, lease_shared ?? false AS lease_shared,
    pause_requested, cancel_requested"""


def job_of(row: Mapping[str, Any]) -> Job:
    """The job of a row selected with `COLUMNS`. Raises StoreMalformed when the row makes no sense."""
    try:
        documents = json.loads(row["documents"])
        params = documents["kind"]
        kind = params.pop("type")
        return Job(
            id=row["id"],
            kind=kind,
            params=params if row.get("params") is None else json.loads(row["params"]),
            priority=Priority(row["priority"]),
            created_at=row["created_at"],
            requested_by=row["requested_by"],
            background=row["background"],
            writes_palace=row["writes_palace"],
            exclusive=row["exclusive"],
            status=Status(row["status"]),
            started_at=row["started_at"],
            completed_at=row["completed_at"],
            progress=Progress(**documents["progress"]),
            attempt=row["attempt"],
            max_attempts=row["max_attempts"],
            recovery_attempts=row["recovery_attempts"],
            checkpoint=documents["checkpoint"],
            result=documents["result"],
            error=row["error"],
            lease_owner=row["lease_owner"],
            lease_expires_at=row["lease_expires_at"],
            lease_shared=row["lease_shared"],
            pause_requested=row["pause_requested"],
            cancel_requested=row["cancel_requested"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoreMalformed(f"the row of job {row.get('id')} makes no sense: {type(error).__name__}: {error}") from error


def json_text(document: Mapping[str, Any]) -> str:
    """A document as JSON text. Raises SerializationFailed."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
        return text
    except (TypeError, ValueError) as error:
        raise SerializationFailed(f"a job's document is not JSON: {error}") from error


def change_of(job: Job, action: str = "updated") -> Change:
    """What the outbox says of a change of this job."""
    return Change("job", action, job.id, (("job_kind", job.kind), ("status", job.status.value)))


def counted(rows: list[dict[str, int]]) -> int:
    """The number of a `SELECT count() … GROUP ALL`, which has no row when there is nothing to count."""
    return rows[0]["count"] if rows else 0
