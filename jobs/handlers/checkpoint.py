"""Files the items of a checkpoint, one a unit: a drawer and the job's position are one transaction."""

from __future__ import annotations

import logging
from collections.abc import Generator

from jobs.domain.checkpoint import CheckpointItem, drawer_id
from jobs.domain.job import Progress
from jobs.runtime.run import JobRun, Unit
from palace.domain.modes import Caller
from palace.services import Item, file_item
from palace.store import Fragment

logger = logging.getLogger("memcastle.jobs")


def checkpoint(run: JobRun) -> Generator[Unit, None, dict[str, int]]:
    """Files what is left of the items, from where the last run stopped."""
    items = [CheckpointItem.from_json(fields) for fields in run.job.params["payload"]["items"]]
    done, duplicates = run.job.checkpoint.get("next_index", 0), run.job.checkpoint.get("duplicates", 0)
    logger.info("filing a checkpoint", extra={"job_id": run.job.id, "items": len(items), "filed_before": done})
    for index in range(done, len(items)):
        progress = Progress(index + 1, len(items), f"{index + 1} of {len(items)} items")
        duplicates += not _stored(run, items[index], index, duplicates, progress)
        yield Unit(progress, saved=True)
    return {"items": len(items), "duplicates": duplicates}


def _stored(run: JobRun, item: CheckpointItem, index: int, duplicates: int, progress: Progress) -> bool:
    """Files one item and moves the job on in the same transaction; False when the room held it already."""
    wing, room = item.place
    wanted = Item(
        id=drawer_id(run.job.id, index),
        wing=wing,
        room=room,
        content=item.content,
        name=item.name,
        source=item.source,
        tags=item.tags,
        job_id=run.job.id,
    )

    def moved_on(stored: bool) -> Fragment:
        return run.checkpoint_fragment({"next_index": index + 1, "duplicates": duplicates + (not stored)}, progress)

    return run.call(file_item(Caller(requested_by=run.job.requested_by), wanted, moved_on))
