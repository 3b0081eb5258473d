"""What must hold, as functions from what was seen to sentences about what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from tests.chaos.files import Files
from tests.chaos.look import Rows, Told
from tests.chaos.model import Model
from tests.chaos.rules import jobs, memory


def everything_wrong(model: Model, files: Files, rows: Rows, told: Told) -> Iterator[str]:
    """Every rule. Those that note what became of lost requests come first."""
    yield from jobs.wrong_submissions(model, rows)
    yield from memory.wrong_texts(model, rows)
    for job in (*rows.jobs, *told.jobs):
        yield from jobs.wrong_row(job)
    yield from jobs.unfinished(rows.jobs)
    yield from jobs.wrong_logs(rows)
    yield from jobs.wrong_ends(rows)
    yield from jobs.wrong_controls(model, rows)
    yield from jobs.wrong_listing(rows, told)
    yield from jobs.wrong_shown_logs(rows, told)
    yield from memory.wrong_strangers(model, rows)
    yield from memory.wrong_items(model, rows)
    yield from memory.wrong_documents(files, rows)
    yield from memory.wrong_mined_drawers(rows)
    yield from memory.wrong_succession(rows)
    yield from memory.wrong_references(rows)
    yield from memory.wrong_counts(rows, told)
    yield from memory.wrong_audit(rows, told)
