"""The drawer: a verbatim, immutable piece of text with provenance and a validity interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from palace.domain.clock import Timestamp

PREVIEW_CHARACTERS = 120
SOURCE_KINDS = ("file", "manual", "transcript", "note", "other")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a mined drawer came from: the document, the chunk's place in it and the revision that was read."""

    source_id: str
    source: str
    document: str
    chunk: int
    revision: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    occurred_at: Timestamp | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "source_id": self.source_id,
            "source": self.source,
            "document": self.document,
            "chunk": self.chunk,
            "revision": self.revision,
            **({"metadata": dict(self.metadata)} if self.metadata else {}),
            **({"occurred_at": self.occurred_at} if self.occurred_at else {}),
        }


@dataclass(frozen=True, slots=True)
class Source:
    """What kind of text a drawer holds and who wrote it."""

    kind: str
    uri: str | None = None
    agent: str | None = None
    origin: Origin | None = None

    def as_json(self) -> dict[str, Any]:
        shape: dict[str, Any] = {"kind": self.kind, "uri": self.uri, "agent": self.agent}
        if self.origin is not None:
            shape["origin"] = self.origin.as_json()
        return shape


@dataclass(frozen=True, slots=True)
class Drawer:
    """A drawer as it is stored, without its derived data (words, vectors)."""

    id: str
    room: str
    name: str | None
    content: str
    content_hash: str
    source: Source
    tags: tuple[str, ...]
    requested_by: str
    job_id: str | None
    valid_from: Timestamp
    valid_to: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    supersedes: str | None = None
    superseded_by: str | None = None
    ended_at: Timestamp | None = None
    """When the palace learned that the drawer had ended; it may lie after `valid_to`."""

    def as_json(self) -> dict[str, Any]:
        """The drawer as every door shows it. Vectors are derived data and never part of it."""
        shape: dict[str, Any] = {
            "id": self.id,
            "room": self.room,
            "name": self.name,
            "content": self.content,
            "content_hash": self.content_hash,
            "source": self.source.as_json(),
            "tags": list(self.tags),
            "embedding": None,
            "provenance": {"requested_by": self.requested_by, "job_id": self.job_id},
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }
        if self.supersedes is not None:
            shape["supersedes"] = self.supersedes
        if self.superseded_by is not None:
            shape["superseded_by"] = self.superseded_by
        return shape


@dataclass(frozen=True, slots=True)
class DrawerSummary:
    """A drawer in a listing: its beginning instead of its content."""

    id: str
    room: str
    name: str | None
    chars: int
    preview: str
    source: Source
    created_at: Timestamp

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "room": self.room,
            "name": self.name,
            "chars": self.chars,
            "preview": self.preview,
            "source": self.source.as_json(),
            "created_at": self.created_at,
        }


@dataclass(frozen=True, slots=True)
class Closing:
    """Ends a drawer's validity at `at`; `successor` is the drawer that replaces it, if one does.

    `learned_at` is when the palace learned of the end, None when that is the end itself.
    """

    drawer: str
    at: Timestamp
    successor: str | None = None
    learned_at: Timestamp | None = None
