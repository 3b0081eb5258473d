"""The mining run: discover, read, chunk, file, a bounded batch a transaction.

Runs in a worker thread as a generator of units. Drawers, document rows, the source's cursor and the job's checkpoint
of a batch are one transaction, so no crash can separate them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator, Iterator, Sequence
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

    At most `mining.max_documents` documents are read and filed; what turns out to be unchanged is free.
    """
    limit = configured(MiningConfig).max_documents
    whole = sweep.cursor is None
    everything = sweep.adapter.lists_everything
    ask = sys.maxsize if everything else max(0, limit - sweep.stats.filed)
    discovery = sweep.adapter.discover(sweep.ref, sweep.cursor, ask)
    if whole or not everything:
        sweep.stats.skips.add_all(discovery.skips)
    sweep.total = sweep.stats.documents + len(discovery.candidates)
    logger.info("mining", extra={"job_id": sweep.run.job.id, "candidates": len(discovery.candidates)})
    exhausted = (yield from _file(sweep, discovery.candidates, limit)) and discovery.exhausted
    if exhausted and everything and not whole:
        exhausted = yield from _file(sweep, _behind(sweep), limit, behind=True)
    yield from _flush(sweep, Batch(cursor=sweep.cursor), swept=exhausted)
    return _result(sweep, limit, truncated=not exhausted, missing=_missing(sweep) if exhausted else None)


def _behind(sweep: Sweep) -> list[Candidate]:
    """What the cursor had passed before this run and is not filed as it is now.

    A file can appear there with an old time (moved, restored), or was left out by a narrower run.
    """
    candidates = sweep.adapter.discover(sweep.ref, None, sys.maxsize).candidates
    passed = [candidate for candidate in candidates if candidate.external_id not in sweep.listed]
    sweep.listed.update(candidate.external_id for candidate in passed)
    return [candidate for candidate in passed if not sweep.is_current(candidate)]


def _file(sweep: Sweep, candidates: Sequence[Candidate], limit: int, *, behind: bool = False) -> Generator[Unit, None, bool]:
    """Files these candidates batch by batch; False when the limit was reached before all of them had their turn."""
    batch = Batch(cursor=sweep.cursor)
    for candidate in candidates:
        current = sweep.is_current(candidate)
        if not current and sweep.stats.filed + len(batch.documents) >= limit:
            # Only the comparison with what is filed tells how many documents of the batch count.
            yield from _flush(sweep, batch)
            batch = Batch(cursor=sweep.cursor)
            if sweep.stats.filed >= limit:
                return False
        _handle(sweep, candidate, batch, current=current, behind=behind)
        if batch.is_full:
            yield from _flush(sweep, batch)
            batch = Batch(cursor=sweep.cursor)
    yield from _flush(sweep, batch)
    return True


def _handle(sweep: Sweep, candidate: Candidate, batch: Batch, *, current: bool, behind: bool) -> None:
    """Reads a candidate that is not current, and puts what it needs into the batch.

    Behind the cursor, what is unfit was counted by the run that passed it.
    """
    raw = None if current else sweep.adapter.read(sweep.ref, candidate)
    if behind and isinstance(raw, Skip):
        return
    batch.handled += 1
    batch.cursor = sweep.cursor if behind else candidate.cursor_after
    sweep.listed.add(candidate.external_id)
    if raw is None:
        sweep.count_unchanged(batch, candidate.external_id)
        return
    if isinstance(raw, Skip):
        batch.skips.append(raw)
        return
    document = sweep.adapter.normalize(raw)
    texts = chunks(document.segments, configured(MiningConfig).chunk_chars)
    source = sweep.prepared.source.id
    cut = chunks_of(texts, sweep.run.job.id, source, raw.external_id)
    batch.add(ReadDocument(document_key(source, raw.external_id), candidate.stamp, raw, document, cut))


def _flush(sweep: Sweep, batch: Batch, *, swept: bool = False) -> Iterator[Unit]:
    """Commits the batch; the unit tells the runner that everything of it is saved already."""
    if batch.handled or swept:
        commit(sweep, batch, swept=swept)
        yield Unit(sweep.progress(sweep.stats), sweep.checkpoint(sweep.cursor, sweep.stats), saved=True)


def _missing(sweep: Sweep) -> list[str] | None:
    """Documents filed earlier that the source does not list any more; None when this run cannot know.

    Nothing is done to them: a place that is not listed today may only be out of reach.
    """
    narrowing = {option.name for option in sweep.adapter.options if option.breadth is not None}
    if not sweep.adapter.lists_everything or narrowing & sweep.ref.options.keys():
        return None
    return sorted(sweep.prepared.known.keys() - sweep.listed)


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
