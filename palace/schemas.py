"""Shapes of the palace's answers, for the routers of every app."""

from __future__ import annotations

from typing import Any, Literal

from ninja import Schema
from pydantic import Field


class WingOut(Schema):
    id: str
    palace: str
    name: str
    description: str | None
    created_at: str
    rooms: int = Field(description="Number of rooms, counted now.")
    drawers: int = Field(description="Number of drawers, counted now, ended ones included.")


class RoomOut(Schema):
    id: str
    wing: str = Field(description="Id of the wing.")
    name: str
    description: str | None
    created_at: str
    wing_name: str
    drawers: int = Field(description="Number of drawers, counted now, ended ones included.")


class DeletedOut(Schema):
    wings: int
    rooms: int
    drawers: int


class OriginOut(Schema):
    source_id: str
    source: str
    document: str
    chunk: int = Field(description="Place of the chunk in its document, from 0.")
    revision: str
    metadata: dict[str, Any] | None = None
    occurred_at: str | None = None


class SourceOut(Schema):
    kind: Literal["file", "manual", "transcript", "note", "other"]
    uri: str | None
    agent: str | None
    origin: OriginOut | None = Field(None, description="Absent unless mined.")


class ProvenanceOut(Schema):
    requested_by: str
    job_id: str | None


class DrawerOut(Schema):
    id: str
    room: str = Field(description="Id of the room.")
    name: str | None
    content: str = Field(description="Verbatim; never changes.")
    content_hash: str = Field(description="SHA-256 of the content, a leading BOM and carriage returns before newlines aside.")
    source: SourceOut
    tags: list[str]
    embedding: list[float] | None
    provenance: ProvenanceOut
    valid_from: str
    valid_to: str | None = Field(description="When it stopped holding; null while it is current.")
    created_at: str
    updated_at: str
    supersedes: str | None = Field(None, description="Absent unless it replaced a drawer.")
    superseded_by: str | None = Field(None, description="Absent unless a drawer replaced it.")


class DrawerSummaryOut(Schema):
    id: str
    room: str
    name: str | None
    chars: int = Field(description="Length of the content in characters.")
    preview: str = Field(description="The first characters of the content.")
    source: SourceOut
    created_at: str


class ErrorOut(Schema):
    """What every refusal looks like."""

    error: str
    code: str | None
    help: str | None
