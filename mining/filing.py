"""Commits a batch: compares what was read with what is filed and writes the difference in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.errors import LeaseLost
from mining import store
from mining.domain.contract import SourceRef
from mining.domain.ingest import Context, Plan, StandingChunk, plan_document
from mining.domain.stats import MiningStats
from mining.errors import SourceFailed
from mining.sweep import Batch, ReadDocument, Sweep
from palace.domain.ids import new_id
from palace.domain.modes import Caller
from palace.domain.names import problem_with_name
from palace.services import Filing, create_room, file_documents
from palace.store import Fragment, RecordExists, TransactionRefused, current
from palace.store.drawers import Standing, names_taken, standing
from palace.store.hierarchy import ROOM_GONE

PLAN_TRIES = 5
"""How often a batch is compared anew because somebody changed the same drawers meanwhile."""


def commit(sweep: Sweep, batch: Batch, *, swept: bool) -> None:
    """Writes the batch and moves the sweep on; on an error nothing of either has happened.

    Raises LeaseLost when the job belongs to another worker by now, SourceFailed when another run advanced the source.
    """
    cursor = batch.cursor if batch.handled else sweep.cursor
    for _ in range(PLAN_TRIES):
        stats = sweep.stats.copy()
        filing, rows = _prepare(sweep, batch, stats)
        along = (*rows, *_advance(sweep, cursor, stats, swept=swept))
        try:
            sweep.run.call(file_documents(_caller(sweep), filing, along))
        except RecordExists:
            continue
        except TransactionRefused as refusal:
            if refusal.reason == "drawer_closed":
                continue
            raise _translated(refusal, sweep.ref) from refusal
        sweep.stats = stats
        sweep.cursor = cursor
        sweep.sequence += 1
        return
    raise SourceFailed("the drawers of these documents kept changing while they were being filed")


def _caller(sweep: Sweep) -> Caller:
    return Caller(requested_by=sweep.run.job.requested_by)


def _translated(refusal: TransactionRefused, ref: SourceRef) -> Exception:
    if refusal.reason == "lease_lost":
        return LeaseLost("the job belongs to another worker by now")
    if refusal.reason == ROOM_GONE:
        return SourceFailed("the room that the documents were to be filed into was deleted meanwhile")
    if refusal.reason == store.SOURCE_MOVED:
        return SourceFailed(f"another run of {ref.locator} filed documents meanwhile; retry this job to go on from there")
    return refusal


def _advance(sweep: Sweep, cursor: object, stats: MiningStats, *, swept: bool) -> tuple[Fragment, Fragment]:
    at = sweep.run.now()
    return (
        store.advance_source(sweep.prepared.source, cursor, swept=swept, sequence=sweep.sequence, job=sweep.run.job.id, at=at),
        sweep.run.checkpoint_fragment(sweep.checkpoint(cursor, stats), sweep.progress(stats)),
    )


def _prepare(sweep: Sweep, batch: Batch, stats: MiningStats) -> tuple[Filing, tuple[Fragment, ...]]:
    """The batch as statements; adds what it does to `stats`."""
    stats.documents += batch.handled
    stats.unchanged += batch.unchanged
    stats.unchanged_elsewhere += batch.unchanged_elsewhere
    stats.skips.add_all(batch.skips)
    changed, restamps = _changed(sweep, batch, stats)
    planned = _plans(sweep, changed)
    for _, plan in planned:
        stats.filed += 1
        stats.created += plan.created
        stats.superseded += plan.superseded
        stats.retired += plan.retired
    filing = Filing.prepare(
        [drawer for _, plan in planned for drawer in plan.drawers],
        [closing for _, plan in planned for closing in plan.closings],
        sum(plan.changes_drawers for _, plan in planned),
    )
    documents = [_row(sweep, read, plan) for read, plan in planned]
    rows = (
        *((store.write_documents(documents),) if documents else ()),
        *((store.restamp_documents(restamps),) if restamps else ()),
    )
    return filing, rows


def _changed(
    sweep: Sweep, batch: Batch, stats: MiningStats
) -> tuple[list[tuple[ReadDocument, store.FiledDocument | None]], dict[str, str]]:
    """Documents whose content or metadata changed, with what is filed of them; and new stamps of those unchanged."""
    filed = sweep.run.call(store.read_documents(current(), [read.key for read in batch.documents]))
    changed = []
    restamps = {}
    again = Batch()
    for read in batch.documents:
        # A document whose room was deleted counts as never filed.
        before = filed.get(read.key) if read.raw.external_id in sweep.prepared.known else None
        if before is not None and before.revision == read.raw.revision and _same_metadata(before, read):
            restamps[read.key] = read.stamp
            sweep.count_unchanged(again, read.raw.external_id)
        else:
            changed.append((read, before))
    stats.unchanged += again.unchanged
    stats.unchanged_elsewhere += again.unchanged_elsewhere
    return changed, restamps


def _same_metadata(before: store.FiledDocument, read: ReadDocument) -> bool:
    # The database does not keep keys without a value.
    return before.metadata == {key: value for key, value in read.raw.metadata.items() if value is not None}


def _plans(sweep: Sweep, changed: Sequence[tuple[ReadDocument, store.FiledDocument | None]]) -> list[tuple[ReadDocument, Plan]]:
    if not changed:
        return []
    ids = [chunk.drawer for _, before in changed if before is not None for chunk in before.chunks]
    ids += [chunk.drawer for read, _ in changed for chunk in read.chunks]
    standings = sweep.run.call(standing(current(), ids))
    wanted: dict[str, list[str]] = {}
    for read, _ in changed:
        if read.document.name is not None:
            wanted.setdefault(_room(sweep, read), []).append(read.document.name)
    taken = {room: sweep.run.call(names_taken(current(), room, names)) for room, names in wanted.items()}
    return [(read, _plan(sweep, read, before, standings, taken)) for read, before in changed]


def _plan(
    sweep: Sweep,
    read: ReadDocument,
    before: store.FiledDocument | None,
    standings: dict[str, Standing],
    taken: dict[str, set[str]],
) -> Plan:
    room = _room(sweep, read)
    old = before.chunks if before is not None else ()
    stays = before is not None and before.room == room
    name = read.document.name
    if name is not None and name in taken[room]:
        # The one that holds it may be the drawer that is about to be replaced.
        first = standings.get(old[0].drawer) if old and stays else None
        name = name if first is not None and first.name == name else None
    return plan_document(
        read.raw,
        read.document,
        read.chunks,
        [
            StandingChunk(chunk.index, chunk.hash, chunk.drawer, chunk.drawer in standings and standings[chunk.drawer].current)
            for chunk in old
        ],
        before is not None and stays and _same_metadata(before, read),
        {chunk.drawer: standings[chunk.drawer].current for chunk in read.chunks if chunk.drawer in standings},
        name,
        Context(
            job=sweep.run.job.id,
            requested_by=sweep.run.job.requested_by,
            source_id=sweep.prepared.source.id,
            source=sweep.ref.source,
            room=room,
            at=sweep.run.now(),
        ),
        new_id,
    )


def _room(sweep: Sweep, read: ReadDocument) -> str:
    """The id of the room for a document, created on first use. An unusable room name means the default room."""
    wish = read.document.room
    name = wish if wish is not None and problem_with_name(wish, allow_slash=False) is None else sweep.adapter.default_room
    if name not in sweep.rooms:
        room, _ = sweep.run.call(create_room(_caller(sweep), sweep.prepared.wing.id, name))
        sweep.rooms[name] = room.id
    return sweep.rooms[name]


def _row(sweep: Sweep, read: ReadDocument, plan: Plan) -> store.FiledDocument:
    return store.FiledDocument(
        key=read.key,
        source=sweep.prepared.source.id,
        external_id=read.raw.external_id,
        stamp=read.stamp,
        revision=read.raw.revision,
        raw=read.raw.body if sweep.adapter.capabilities.retains_raw else None,
        raw_hash=read.raw.revision,
        title=read.document.title,
        metadata=read.raw.metadata,
        occurred_at=read.raw.occurred_at,
        room=_room(sweep, read),
        chunks=tuple(store.FiledChunk(*chunk) for chunk in plan.chunks),
        acquired_at=sweep.run.now(),
        job=sweep.run.job.id,
    )
