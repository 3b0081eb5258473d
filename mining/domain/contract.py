"""The source contract: what mining knows of a place that documents come from.

A source lists candidates (`discover`), fetches one (`read`) and turns it into a document (`normalize`). It never sees
the store or the jobs, and mining never knows which source it drives.

A cursor is a source's own JSON value for "everything up to here is done"; `None` is the beginning. It is only an
optimisation: reading a document again is always safe, so a lost cursor costs reading and never makes a duplicate.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from palace.domain.clock import Timestamp
from palace.domain.ids import NIL, derived_id

DocumentKind = Literal["file", "manual", "transcript", "other"]


class SkipReason(StrEnum):
    """Why something in a source was not filed."""

    BINARY = "binary"
    TOO_LARGE = "too_large"
    EMPTY = "empty"
    NOT_UTF8 = "not_utf8"
    IGNORED = "ignored"
    UNREADABLE = "unreadable"
    SYMLINK = "symlink"


@dataclass(frozen=True, slots=True)
class Skip:
    """Something that was left out. `path` is relative to the source, with `/`; that of a directory ends with `/`."""

    path: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a source can do.

    `incremental`: its cursor narrows what it lists. `retains_raw`: the raw body is kept with the document.
    `needs_credentials`: it must sign in somewhere.
    """

    incremental: bool = False
    retains_raw: bool = False
    needs_credentials: bool = False


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option of a run. `type` is `string`, `path` or `date`; `breadth` names the rule by which a change of it
    widens a saved run (`include`, `opt_in_include`, `exclude`, `since`), None when any change does."""

    name: str
    description: str
    type: str = "string"
    breadth: str | None = None


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A place, identified by `source`, `account` and `locator`, and the options of this run.

    Options that only narrow a run are no part of the identity and are never stored; one that selects a slice must be
    folded into `account` or `locator`, so that each slice has its own cursor.
    """

    source: str
    account: str | None
    locator: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that was listed and not yet read.

    `external_id` stays the same over runs and revisions. `cursor_after` is the cursor (JSON) to store once this one
    and all before it are done. `handle` means something only to the source. `stamp` changes whenever the content may
    have changed, so an equal stamp spares the reading.
    """

    external_id: str
    cursor_after: object
    handle: str
    stamp: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """One listing: candidates in cursor order, whether nothing is left after them, and what was left out.

    `skips` speaks of the whole listing wherever the cursor stood: whoever lists page by page counts those of one page.
    """

    candidates: tuple[Candidate, ...]
    exhausted: bool
    skips: tuple[Skip, ...] = ()


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document as it was fetched. `revision` changes exactly when the content does; `metadata` is a JSON object."""

    external_id: str
    revision: str
    body: str
    metadata: Mapping[str, object]
    occurred_at: Timestamp | None


@dataclass(frozen=True, slots=True)
class CanonicalDocument:
    """A document in the form every source shares.

    `room` and `name` are wishes (the name is that of the first chunk). `segments` are the natural parts of the text;
    joined without anything between them they are the document.
    """

    title: str | None
    room: str | None
    name: str | None
    kind: DocumentKind
    uri: str | None
    tags: tuple[str, ...]
    segments: tuple[str, ...]


class SourceAdapter(Protocol):
    """A kind of source, built in or installed."""

    @property
    def name(self) -> str:
        """What users type."""

    @property
    def description(self) -> str:
        """One line."""

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def options(self) -> tuple[OptionSpec, ...]:
        """The options a run may carry; `identify` refuses any other."""

    @property
    def lists_everything(self) -> bool:
        """True when a run sweeps from the beginning and stamps decide what is read; False when it goes on from the
        stored cursor."""

    @property
    def default_room(self) -> str:
        """The room of documents that name no valid one."""

    def identify(self, locator: str | None, options: Mapping[str, str]) -> SourceRef:
        """The place meant, with its options normalised; equal places give equal identities.

        Raises InvalidInput for what is not acceptable, FileFailed for a place that is not there.
        """

    def default_wing(self, ref: SourceRef) -> str:
        """The wing to file into when the caller names none."""

    def discover(self, ref: SourceRef, cursor: object, limit: int) -> Discovery:
        """At most `limit` candidates strictly after the cursor, in cursor order.

        Raises SourceCursorInvalid for a cursor it did not write, and another MemCastleError when the place cannot be
        listed, so that an unreachable place is never mistaken for an empty one.
        """

    def read(self, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
        """The document, or why there is none: what is gone or unfit is no error."""

    def normalize(self, raw: RawDocument) -> CanonicalDocument:
        """The document in canonical form. Pure and deterministic."""


def source_id(ref: SourceRef) -> str:
    """The id of the source row. Stored state: the same place must always give the same id."""
    return derived_id(NIL, f"{ref.source}\0{ref.account or ''}\0{ref.locator}")


def document_key(source_id: str, external_id: str) -> str:
    """The key of a document's row: SHA-256 (hex) of the source id, NUL and the external id, which may hold any
    character but is always valid Unicode."""
    return hashlib.sha256(f"{source_id}\0{external_id}".encode()).hexdigest()
