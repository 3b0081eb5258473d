"""What is seen after a round: what the daemon says, and every row of the palace, read without the daemon's code."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palace.store import open_embedded
from tests.support import Daemon

Row = dict[str, Any]
STATUSES = ("queued", "running", "paused", "completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a palace. Absent values are absent keys."""

    wings: list[Row]
    rooms: list[Row]
    drawers: list[Row]
    jobs: list[Row]
    log: list[Row]
    sources: list[Row]
    documents: list[Row]


TABLES = ("wing", "room", "drawer", "job", "job_log", "source", "source_document")
# The client drops keys without a value from objects, so a job's documents come as JSON text.
DOCUMENTS = "encoding::json::encode({ kind: kind, progress: progress, checkpoint: checkpoint, result: result }) AS documents"
EVERYTHING = "".join(
    f"SELECT *, record::id(id) AS id{', ' + DOCUMENTS if table == 'job' else ''} FROM {table};" for table in TABLES
)


def read_rows(palace: Path) -> Rows:
    """Everything that the palace of a stopped daemon holds."""

    async def read() -> list[list[Row]]:
        store = await open_embedded(palace / "db")
        try:
            return await store.query(EVERYTHING)
        finally:
            await store.close()

    rows = Rows(*asyncio.run(read()))
    for job in rows.jobs:
        job |= json.loads(job.pop("documents"))
    return rows


@dataclass(frozen=True, slots=True)
class Told:
    """What a daemon answers about a quiet palace."""

    status: Row
    wings: list[Row]
    rooms: dict[str, list[Row]]
    """By the name of the wing."""
    newest: dict[str, list[Row]]
    """By the id of the room, the newest drawers in it."""
    jobs: list[Row]
    by_status: dict[str, int]
    logs: dict[str, list[Row]]
    """By job, for the jobs of the round."""
    audit: Row


NEWEST = 20


def ask_everything(daemon: Daemon, jobs: list[str], audit: Row) -> Told:
    """Asks a daemon all that it can be asked about the palace, and for the logs of these jobs."""
    wings = daemon.get("/api/wings")
    rooms = {wing["name"]: daemon.get(f"/api/wings/{wing['id']}/rooms") for wing in wings}
    every = [room for listed in rooms.values() for room in listed]
    return Told(
        status=daemon.get("/api/status"),
        wings=wings,
        rooms=rooms,
        newest={
            room["id"]: daemon.get(f"/api/wings/{room['wing']}/rooms/{room['id']}/drawers?limit={NEWEST}") for room in every
        },
        jobs=daemon.get("/api/jobs"),
        by_status={status: len(daemon.get(f"/api/jobs?status={status}")) for status in STATUSES},
        logs={job: daemon.get(f"/api/jobs/{job}/log") for job in jobs},
        audit=audit,
    )
