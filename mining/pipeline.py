"""The mining run: discover, read, chunk, file, a bounded batch a transaction.

Runs in a worker thread as a generator of units. Drawers, document rows, the source's cursor and the job's checkpoint
of a batch are one transaction, so no crash can separate them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator, Iterator
from typing import Any

from jobs.runtime.run import JobRun, Unit
from mining.conf import MiningConfig
from mining.domain.chunker import chunks
from mining.domain.contract import Candidate, Skip, SourceAdapter, SourceRef, document_key
from mining.domain.ingest import chunks_of
from mining.domain.stats import MiningStats
from mining.filing import commit
from mining.store import MinedSource
from mining.sweep import Batch, Prepared, ReadDocument, Sweep
from palace.configuration import current as configured

logger = logging.getLogger("memcastle.mining")

MISSING_EXAMPLES = 20


def begin(run: JobRun, adapter: SourceAdapter, ref: SourceRef, prepared: Prepared, *, full: bool) -> Sweep:
    """The sweep that goes on where the job, or its source, stopped."""
    return Sweep(
        run=run,
        adapter=adapter,
        ref=ref,
        prepared=prepared,
        cursor=_start_cursor(run, adapter, prepared.source, anew=full or prepared.gaps),
        stats=MiningStats.from_json(run.job.checkpoint.get("stats", {})),
        sequence=prepared.source.sequence,
    )


def _start_cursor(run: JobRun, adapter: SourceAdapter, source: MinedSource, *, anew: bool) -> object:
    """The job's own checkpoint first. A source that lists everything is swept anew once a sweep has reached its end."""
    if "cursor" in run.job.checkpoint:
        return run.job.checkpoint["cursor"]
    if anew or (adapter.lists_everything and source.swept):
        return None
    return source.cursor


def sweep_source(sweep: Sweep) -> Generator[Unit, None, dict[str, Any]]:
    """Files what is new or changed after the sweep's cursor; returns the job's result.

    At most `mining.max_documents` documents are read and filed; what the stamps show to be unchanged is free.
    """
    limit = configured(MiningConfig).max_documents
    whole = sweep.cursor is None
    ask = sys.maxsize if sweep.adapter.lists_everything else max(0, limit - sweep.stats.filed)
    discovery = sweep.adapter.discover(sweep.ref, sweep.cursor, ask)
    if whole or not sweep.adapter.lists_everything:
        sweep.stats.skips.add_all(discovery.skips)
    sweep.total = sweep.stats.documents + len(discovery.candidates)
    logger.info("mining", extra={"job_id": sweep.run.job.id, "candidates": len(discovery.candidates)})
    finished = True
    batch = Batch()
    for candidate in discovery.candidates:
        if sweep.stats.filed + len(batch.documents) >= limit and not sweep.is_current(candidate):
            finished = False
            break
        _handle(sweep, candidate, batch)
        if batch.is_full:
            yield from _flush(sweep, batch, swept=False)
            batch = Batch()
    exhausted = finished and discovery.exhausted
    yield from _flush(sweep, batch, swept=exhausted)
    return _result(sweep, limit, truncated=not exhausted, missing=_missing(sweep, whole) if exhausted else None)


def _handle(sweep: Sweep, candidate: Candidate, batch: Batch) -> None:
    """Reads a candidate unless its stamp says that nothing changed, and puts what it needs into the batch."""
    batch.handled += 1
    batch.cursor = candidate.cursor_after
    sweep.listed.add(candidate.external_id)
    if sweep.is_current(candidate):
        sweep.count_unchanged(batch, candidate.external_id)
        return
    raw = sweep.adapter.read(sweep.ref, candidate)
    if isinstance(raw, Skip):
        batch.skips.append(raw)
        return
    document = sweep.adapter.normalize(raw)
    texts = chunks(document.segments, configured(MiningConfig).chunk_chars)
    source = sweep.prepared.source.id
    cut = chunks_of(texts, sweep.run.job.id, source, raw.external_id)
    batch.add(ReadDocument(document_key(source, raw.external_id), candidate.stamp, raw, document, cut))


def _flush(sweep: Sweep, batch: Batch, *, swept: bool) -> Iterator[Unit]:
    """Commits the batch; the unit tells the runner that everything of it is saved already."""
    if batch.handled or swept:
        commit(sweep, batch, swept=swept)
        yield Unit(sweep.progress(sweep.stats), sweep.checkpoint(sweep.cursor, sweep.stats), saved=True)


def _missing(sweep: Sweep, whole: bool) -> list[str] | None:
    """Documents filed earlier that the source does not list any more; None when this run cannot know.

    Nothing is done to them: a place that is not listed today may only be out of reach.
    """
    narrowing = {option.name for option in sweep.adapter.options if option.breadth is not None}
    if not sweep.adapter.lists_everything or narrowing & sweep.ref.options.keys():
        return None
    listed = sweep.listed
    if not whole:
        listed = {candidate.external_id for candidate in sweep.adapter.discover(sweep.ref, None, sys.maxsize).candidates}
    return sorted(sweep.prepared.known.keys() - listed)


def _result(sweep: Sweep, limit: int, *, truncated: bool, missing: list[str] | None) -> dict[str, Any]:
    stats = sweep.stats
    result: dict[str, Any] = {
        "source_id": sweep.prepared.source.id,
        "source": sweep.ref.source,
        "locator": sweep.ref.locator,
        "wing": sweep.prepared.wing.name,
        **stats.counters,
        "skipped_by_reason": stats.skips.by_reason(),
        "skipped_examples": [{"path": skip.path, "reason": skip.reason.value} for skip in stats.skips.examples()],
        "limit": limit,
        "truncated": truncated,
    }
    if missing is not None:
        result |= {"missing": len(missing), "missing_examples": missing[:MISSING_EXAMPLES]}
    return result
