"""Decides what a new revision of a document does to its drawers. Pure: what stands is given, what to write is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mining.domain.contract import CanonicalDocument, RawDocument
from palace.domain.clock import Timestamp
from palace.domain.drawer import Closing, Drawer, Origin, Source
from palace.domain.ids import derived_id
from palace.domain.texts import content_hash


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk to file: its place, its text and the drawer id that this job derives for it."""

    index: int
    text: str
    hash: str
    drawer: str


@dataclass(frozen=True, slots=True)
class StandingChunk:
    """A chunk of the last filed revision. `current` is False when its drawer was ended or deleted meanwhile."""

    index: int
    hash: str
    drawer: str
    current: bool


@dataclass(frozen=True, slots=True)
class Context:
    """What all drawers of one document share."""

    job: str
    requested_by: str
    source_id: str
    source: str
    room: str
    at: Timestamp


@dataclass(frozen=True, slots=True)
class Plan:
    """What to write for one document. `chunks` is the complete new list of (index, hash, drawer)."""

    drawers: tuple[Drawer, ...]
    closings: tuple[Closing, ...]
    chunks: tuple[tuple[int, str, str], ...]
    created: int
    superseded: int
    retired: int

    @property
    def changes_drawers(self) -> bool:
        return bool(self.drawers or self.closings)


def chunks_of(texts: Sequence[str], job: str, source_id: str, external_id: str) -> tuple[Chunk, ...]:
    """The chunks with their derived drawer ids. The derivation is stored state and must never change."""
    found = []
    for index, text in enumerate(texts):
        digest = content_hash(text)
        name = f"mine-chunk:{source_id}:{external_id}:{index}:{digest}"
        found.append(Chunk(index, text, digest, derived_id(job, name)))
    return tuple(found)


def plan_document(
    raw: RawDocument,
    document: CanonicalDocument,
    chunks: Sequence[Chunk],
    standing: Sequence[StandingChunk],
    keeps_equal: bool,
    taken_ids: Mapping[str, bool],
    name: str | None,
    context: Context,
    fresh_id: Callable[[], str],
) -> Plan:
    """What turns the standing chunks of a document into the new ones.

    A chunk whose text has not changed keeps its drawer, whatever became of that drawer: what a person corrected or
    deleted does not come back because another part of the document changed. `keeps_equal` is False when the document's
    metadata or its room changed: then it moves whole, so that no room holds a part of it only.
    `taken_ids` holds those derived ids that a drawer has already: True when that drawer is current (a replay wrote
    it), False when it has ended (the text returned to an older form, so a fresh id is needed). `name` is the name for
    chunk 0, already found to be free, or None.
    """
    old = {chunk.index: chunk for chunk in standing}
    drawers: list[Drawer] = []
    closings: list[Closing] = []
    filed: list[tuple[int, str, str]] = []
    superseded = 0
    for chunk in chunks:
        before = old.get(chunk.index)
        if before is not None and before.hash == chunk.hash and keeps_equal:
            filed.append((chunk.index, chunk.hash, before.drawer))
            continue
        if taken_ids.get(chunk.drawer):
            filed.append((chunk.index, chunk.hash, chunk.drawer))
            continue
        id = fresh_id() if chunk.drawer in taken_ids else chunk.drawer
        replaces = before.drawer if before is not None and before.current else None
        drawers.append(_drawer(id, chunk, raw, document, name if chunk.index == 0 else None, replaces, context))
        filed.append((chunk.index, chunk.hash, id))
        if replaces is not None:
            closings.append(Closing(replaces, context.at, id))
            superseded += 1
    retired = [chunk for chunk in standing if chunk.index >= len(chunks) and chunk.current]
    closings.extend(Closing(chunk.drawer, context.at) for chunk in retired)
    return Plan(tuple(drawers), tuple(closings), tuple(filed), len(drawers), superseded, len(retired))


def _drawer(
    id: str,
    chunk: Chunk,
    raw: RawDocument,
    document: CanonicalDocument,
    name: str | None,
    replaces: str | None,
    context: Context,
) -> Drawer:
    origin = Origin(
        source_id=context.source_id,
        source=context.source,
        document=raw.external_id,
        chunk=chunk.index,
        revision=raw.revision,
        metadata=raw.metadata,
        occurred_at=raw.occurred_at,
    )
    return Drawer(
        id=id,
        room=context.room,
        name=name,
        content=chunk.text,
        content_hash=chunk.hash,
        source=Source(document.kind, document.uri, None, origin),
        tags=document.tags,
        requested_by=context.requested_by,
        job_id=context.job,
        valid_from=context.at,
        valid_to=None,
        created_at=context.at,
        updated_at=context.at,
        supersedes=replaces,
    )
