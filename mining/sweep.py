"""The state of a mining run and of the batch it is filling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jobs.domain.job import Progress
from jobs.runtime.run import JobRun
from mining.domain.contract import Candidate, CanonicalDocument, RawDocument, Skip, SourceAdapter, SourceRef
from mining.domain.ingest import Chunk
from mining.domain.stats import MiningStats
from mining.store import KnownDocument, MinedSource
from palace.domain.hierarchy import Wing

BATCH_DOCUMENTS = 32
BATCH_CHARACTERS = 100_000
BATCH_HANDLED = 500
"""Documents handled, unchanged and skipped ones included, after which a batch is committed in any case."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a run reads from the palace before it starts.

    `known` are the documents filed earlier by external id; `home_rooms` the ids of the target wing's rooms; `gaps`
    says that documents filed earlier are gone because their room was deleted.
    """

    source: MinedSource
    wing: Wing
    known: dict[str, KnownDocument]
    home_rooms: frozenset[str]
    gaps: bool


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that was read and cut, ready to be compared with what is filed."""

    key: str
    stamp: str
    raw: RawDocument
    document: CanonicalDocument
    chunks: tuple[Chunk, ...]


@dataclass(slots=True)
class Batch:
    """Candidates handled since the last commit."""

    documents: list[ReadDocument] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)
    handled: int = 0
    unchanged: int = 0
    unchanged_elsewhere: int = 0
    characters: int = 0
    cursor: object = None

    def add(self, document: ReadDocument) -> None:
        self.documents.append(document)
        self.characters += len(document.raw.body)

    @property
    def is_full(self) -> bool:
        return len(self.documents) >= BATCH_DOCUMENTS or self.characters >= BATCH_CHARACTERS or self.handled >= BATCH_HANDLED


@dataclass(slots=True)
class Sweep:
    """One run of one source: what it reads, what it knows, how far it came."""

    run: JobRun
    adapter: SourceAdapter
    ref: SourceRef
    prepared: Prepared
    cursor: object
    stats: MiningStats
    sequence: int
    total: int | None = None
    listed: set[str] = field(default_factory=set)
    rooms: dict[str, str] = field(default_factory=dict)
    """Ids of the rooms filed into so far, by name."""

    def is_current(self, candidate: Candidate) -> bool:
        """Whether the candidate's stamp says that it is filed as it is."""
        known = self.prepared.known.get(candidate.external_id)
        return known is not None and known.stamp == candidate.stamp

    def count_unchanged(self, batch: Batch, external_id: str) -> None:
        """Counts a document that needs nothing, and whether it is filed outside the wing asked for."""
        batch.unchanged += 1
        batch.unchanged_elsewhere += self.prepared.known[external_id].room not in self.prepared.home_rooms

    def progress(self, stats: MiningStats) -> Progress:
        total = None if self.total is None else max(self.total, stats.documents)
        return Progress(stats.documents, total, f"{stats.documents} of {total} documents")

    def checkpoint(self, cursor: object, stats: MiningStats) -> dict[str, Any]:
        return {"cursor": cursor, "stats": stats.to_json()}
