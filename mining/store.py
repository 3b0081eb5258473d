"""The tables `source` and `source_document`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mining.domain.contract import SourceRef
from palace.domain.clock import Timestamp
from palace.store import Fragment, Store

SOURCE_MOVED = "source_moved"
"""Thrown when another run advanced the source meanwhile."""


@dataclass(frozen=True, slots=True)
class MinedSource:
    """A place that was mined, and how far."""

    id: str
    source: str
    account: str | None
    locator: str
    cursor: object
    swept: bool
    sequence: int
    last_job: str | None
    last_run_at: Timestamp | None
    documents: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "source": self.source,
            "account": self.account,
            "locator": self.locator,
            "cursor": self.cursor,
            "last_job": self.last_job,
            "last_run_at": self.last_run_at,
            "documents": self.documents,
        }


@dataclass(frozen=True, slots=True)
class FiledChunk:
    """One chunk of a document's last revision and the drawer that holds it."""

    index: int
    hash: str
    drawer: str


@dataclass(frozen=True, slots=True)
class FiledDocument:
    """What was filed of a document, as of its last revision."""

    key: str
    source: str
    external_id: str
    stamp: str
    revision: str
    raw_hash: str
    title: str | None
    metadata: Mapping[str, Any]
    occurred_at: Timestamp | None
    room: str
    acquired_at: Timestamp
    job: str | None
    raw: str | None = None
    chunks: tuple[FiledChunk, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What a sweep needs to know of a document to see that it has not changed."""

    key: str
    stamp: str
    room: str


ENSURE_SOURCE = """
INSERT IGNORE INTO source {
    id: type::record('source', $id), source: $source, account: $account ?? NONE, locator: $locator,
    swept: false, sequence: 0, created_at: $now, updated_at: $now
} RETURN NONE;
"""
_SOURCE_FIELDS = """
    record::id(id) AS id, source, account, locator, cursor, swept, sequence, last_job, last_run_at, created_at
"""
SOURCE = f"SELECT {_SOURCE_FIELDS} FROM ONLY type::record('source', $id);"
SOURCES = f"""{{
    LET $sources = (SELECT {_SOURCE_FIELDS} FROM source ORDER BY created_at);
    RETURN $sources.map(|$source| object::extend($source, {{
        documents: (SELECT VALUE count() FROM source_document WHERE source = $source.id GROUP ALL)[0] ?? 0
    }}));
}};
"""


async def ensure_source(store: Store, id: str, ref: SourceRef, at: Timestamp) -> MinedSource:
    """The row of a place, created when it is mined for the first time."""
    await store.query(ENSURE_SOURCE, id=id, source=ref.source, account=ref.account, locator=ref.locator, now=at)
    return _source(await store.first(SOURCE, id=id))


async def list_sources(store: Store) -> list[MinedSource]:
    """Every place that was mined, oldest first, with its number of documents."""
    rows = await store.first(SOURCES)
    counts = (row["documents"] for row in rows)
    numbers = (int(count["count"] if isinstance(count, Mapping) else count) for count in counts)
    return [_source(row, number) for row, number in zip(rows, numbers, strict=True)]


def _source(row: Mapping[str, Any], documents: int = 0) -> MinedSource:
    cursor = row.get("cursor")
    return MinedSource(
        id=row["id"],
        source=row["source"],
        account=row.get("account"),
        locator=row["locator"],
        cursor=cursor.get("value") if cursor else None,
        swept=row["swept"],
        sequence=row["sequence"],
        last_job=row.get("last_job"),
        last_run_at=row.get("last_run_at"),
        documents=documents,
    )


ADVANCE = f"""
LET $advanced = (UPDATE type::record('source', $source_id)
    SET cursor = $source_cursor, swept = $source_swept, sequence += 1, last_job = $source_job,
        last_run_at = $source_at, updated_at = $source_at
    WHERE sequence = $source_sequence RETURN VALUE sequence);
IF array::len($advanced) = 0 {{ THROW '{SOURCE_MOVED}' }};
"""


def advance_source(source: MinedSource, cursor: object, *, swept: bool, sequence: int, job: str, at: Timestamp) -> Fragment:
    """Moves the source's cursor, if nobody else did since `sequence` was read; else the transaction is refused."""
    return Fragment(
        ADVANCE,
        {
            "source_id": source.id,
            "source_cursor": {"value": cursor},
            "source_swept": swept,
            "source_sequence": sequence,
            "source_job": job,
            "source_at": at,
        },
    )


KNOWN = "SELECT record::id(id) AS key, external_id, stamp, room FROM source_document WHERE source = $source;"
LIVING_ROOMS = "SELECT VALUE record::id(id) FROM room;"


async def known_documents(store: Store, source: str) -> tuple[dict[str, KnownDocument], bool]:
    """The documents of a source by external id, and whether any was left out because its room was deleted."""
    rows, rooms = await store.query(KNOWN + LIVING_ROOMS, source=source)
    living = set(rooms)
    known = {row["external_id"]: KnownDocument(row["key"], row["stamp"], row["room"]) for row in rows if row["room"] in living}
    return known, len(known) < len(rows)


DOCUMENTS = """
SELECT record::id(id) AS key, source, external_id, stamp, revision, raw_hash, title, metadata, occurred_at, room, chunks,
    acquired_at, job
FROM $keys.map(|$key| type::record('source_document', $key));
"""


async def read_documents(store: Store, keys: Sequence[str]) -> dict[str, FiledDocument]:
    """What was filed of these documents, by key, without their raw bodies."""
    rows = await store.first(DOCUMENTS, keys=list(keys)) if keys else []
    return {
        row["key"]: FiledDocument(
            key=row["key"],
            source=row["source"],
            external_id=row["external_id"],
            stamp=row["stamp"],
            revision=row["revision"],
            raw_hash=row["raw_hash"],
            title=row.get("title"),
            metadata=row["metadata"],
            occurred_at=row.get("occurred_at"),
            room=row["room"],
            acquired_at=row["acquired_at"],
            job=row.get("job"),
            chunks=tuple(FiledChunk(chunk["index"], chunk["hash"], chunk["drawer"]) for chunk in row["chunks"]),
        )
        for row in rows
    }


WRITE_DOCUMENTS = """
FOR $document IN $documents { UPSERT type::record('source_document', $document.key) CONTENT $document.row RETURN NONE; };
"""


def write_documents(documents: Sequence[FiledDocument]) -> Fragment:
    """Records what is filed of these documents."""
    return Fragment(WRITE_DOCUMENTS, {"documents": [{"key": document.key, "row": _row(document)} for document in documents]})


def _row(document: FiledDocument) -> dict[str, Any]:
    row = {
        "source": document.source,
        "external_id": document.external_id,
        "stamp": document.stamp,
        "revision": document.revision,
        "raw_hash": document.raw_hash,
        "metadata": dict(document.metadata),
        "room": document.room,
        "chunks": [{"index": chunk.index, "hash": chunk.hash, "drawer": chunk.drawer} for chunk in document.chunks],
        "acquired_at": document.acquired_at,
    }
    optional = {
        "raw": document.raw,
        "title": document.title,
        "occurred_at": document.occurred_at,
        "job": document.job,
    }
    return row | {key: value for key, value in optional.items() if value is not None}


RESTAMP = """
FOR $restamp IN $restamps { UPDATE type::record('source_document', $restamp.key) SET stamp = $restamp.stamp RETURN NONE; };
"""


def restamp_documents(stamps: Mapping[str, str]) -> Fragment:
    """Records that these documents (by key) were read under a new stamp and had not changed."""
    return Fragment(RESTAMP, {"restamps": [{"key": key, "stamp": stamp} for key, stamp in stamps.items()]})
