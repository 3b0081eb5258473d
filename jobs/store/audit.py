"""What an audit reads: drawers in pages, each with whether its room and its job still exist. Never content."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.store.rows import counted
from palace.domain.ids import NIL
from palace.store import Store

PAGE_ROWS = 500
BEFORE_ALL = NIL

# One statement sees one state of the palace, so a drawer and its room cannot disagree because of a deletion in between.
# A record range starts where the last page ended and comes in order of the keys; a condition on the id would read past
# all drawers before it.
PAGE = """
SELECT record::id(id) AS id, room, type::record('room', room).wing AS wing, provenance.job_id AS job,
    IF provenance.job_id THEN
        type::record('job', provenance.job_id).status != NONE
        OR type::record('job_removed', provenance.job_id).removed_at != NONE
    ELSE true END AS job_exists
    FROM type::record('drawer', $after>..) LIMIT $rows;
"""


@dataclass(frozen=True, slots=True)
class AuditedDrawer:
    """What an audit knows of a drawer."""

    id: str
    room: str
    wing: str | None
    """Id of the wing; None when the room does not exist."""
    job: str | None
    job_exists: bool
    """True also when the drawer comes from no job, or from one that was removed with age."""


async def drawer_page(store: Store, after: str) -> list[AuditedDrawer]:
    """The next drawers in order of their ids, at most `PAGE_ROWS`."""
    return [AuditedDrawer(**row) for row in await store.first(PAGE, after=after, rows=PAGE_ROWS)]


WINGS_NAMED = "SELECT VALUE record::id(id) FROM wing WHERE name = $name;"


async def wings_named(store: Store, name: str) -> set[str]:
    """Ids of the wings of that name: one or none."""
    return set(await store.first(WINGS_NAMED, name=name))


COUNTS = """
SELECT count() FROM drawer GROUP ALL;
SELECT count() FROM job WHERE status = 'failed' AND recovery_attempts >= max_attempts GROUP ALL;
SELECT count() FROM job WHERE status = 'running' AND id != type::record('job', $audit) GROUP ALL;
"""


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """Figures an audit needs beside the drawers."""

    drawers: int
    stuck: int
    """Failed jobs whose crash budget is used up."""
    running: int
    """Running jobs other than the audit."""


async def audit_counts(store: Store, audit: str) -> AuditCounts:
    """Counts for the audit with that job id."""
    return AuditCounts(*(counted(rows) for rows in await store.query(COUNTS, audit=audit)))
