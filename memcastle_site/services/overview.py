"""What the dashboard's first page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs import services as jobs
from jobs.domain.job import Job
from memcastle_site.services.status import status
from palace import services as palace
from palace.domain.hierarchy import Wing
from palace.domain.modes import Caller

LATEST_JOBS = 10


@dataclass(frozen=True, slots=True)
class Overview:
    """State, wings and latest jobs."""

    status: dict[str, Any]
    wings: list[Wing]
    jobs: list[Job]


async def overview(caller: Caller) -> Overview:
    """The daemon's state, every wing with its counts, and the latest jobs."""
    return Overview(
        status=await status(caller.mode),
        wings=await palace.list_wings(caller),
        jobs=await jobs.list_jobs(caller, limit=LATEST_JOBS),
    )
