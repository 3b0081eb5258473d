"""The table `drawer`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from palace.domain.drawer import PREVIEW_CHARACTERS, SOURCE_KINDS, Closing, Drawer, DrawerSummary, Origin, Source
from palace.domain.words import indexed_words
from palace.store.connection import Fragment, Store

_FIELDS = """
    record::id(id) AS id, room, name, content, content_hash, source, tags, provenance,
    valid_from, valid_to, ended_at, supersedes, superseded_by, created_at, updated_at
"""

INSERT = "INSERT INTO drawer $drawers RETURN NONE;"


def insert_drawers(drawers: Iterable[Drawer], *, unique_copies: bool = False) -> Fragment:
    """Stores new drawers; the transaction fails with RecordExists when an id or a name in a room is taken.

    With `unique_copies` it also fails when the room holds a current unnamed copy of the same text that was stored
    in this way.
    """
    return Fragment(INSERT, {"drawers": [_row(drawer, unique_copies) for drawer in drawers]})


def _row(drawer: Drawer, unique_copies: bool) -> dict[str, Any]:
    row = {
        "id": drawer.id,
        "room": drawer.room,
        "content": drawer.content,
        "content_hash": drawer.content_hash,
        "words": indexed_words(drawer.content),
        "source": drawer.source.as_json(),
        "tags": list(drawer.tags),
        "provenance": {"requested_by": drawer.requested_by, "job_id": drawer.job_id},
        "valid_from": drawer.valid_from,
        "created_at": drawer.created_at,
        "updated_at": drawer.updated_at,
    }
    optional = {
        "name": drawer.name,
        "valid_to": drawer.valid_to,
        "supersedes": drawer.supersedes,
        "copy_key": f"{drawer.room}:{drawer.content_hash}" if unique_copies and drawer.name is None else None,
    }
    return row | {key: value for key, value in optional.items() if value is not None}


CLOSE = """
FOR $closing IN $closings {
    LET $closed = (UPDATE type::record('drawer', $closing.drawer)
        SET valid_to = $closing.at, ended_at = $closing.learned_at, updated_at = $closing.learned_at,
            superseded_by = $closing.successor ?? NONE, name = NONE, copy_key = NONE
        WHERE !valid_to RETURN VALUE id);
    IF array::len($closed) = 0 { THROW 'drawer_closed' };
};
"""


def close_drawers(closings: Iterable[Closing]) -> Fragment:
    """Ends drawers; the transaction throws `drawer_closed` when one of them is gone or has ended already."""
    rows = [
        {
            "drawer": closing.drawer,
            "at": closing.at,
            "learned_at": closing.learned_at or closing.at,
            "successor": closing.successor,
        }
        for closing in closings
    ]
    return Fragment(CLOSE, {"closings": rows})


DRAWER_BY_ID = f"SELECT {_FIELDS} FROM ONLY type::record('drawer', $id);"
DRAWERS_BY_ID = f"SELECT {_FIELDS} FROM $ids.map(|$id| type::record('drawer', $id));"
DRAWER_BY_NAME = f"SELECT {_FIELDS} FROM drawer WHERE room = $room AND name = $name;"
# Left to itself the database would rather have the order for nothing, and read the whole room along the index of instants.
CURRENT_COPY = f"""
SELECT {_FIELDS} FROM drawer WITH INDEX drawer_room_hash
    WHERE room = $room AND content_hash = $hash AND !valid_to ORDER BY created_at, id LIMIT 1;
"""


async def read_drawer(store: Store, id: str) -> Drawer | None:
    """The drawer with that id."""
    row = await store.first(DRAWER_BY_ID, id=id)
    return drawer_from_row(row) if row else None


async def read_drawers(store: Store, ids: Sequence[str]) -> dict[str, Drawer]:
    """The drawers with these ids that exist, by id."""
    rows = await store.first(DRAWERS_BY_ID, ids=list(ids)) if ids else []
    return {row["id"]: drawer_from_row(row) for row in rows}


async def find_drawer(store: Store, room: str, reference: str, id: str | None) -> Drawer | None:
    """The drawer of that room named `reference`, else the one with the given id. Names come first."""
    rows = await store.first(DRAWER_BY_NAME, room=room, name=reference)
    if rows:
        return drawer_from_row(rows[0])
    drawer = await read_drawer(store, id) if id else None
    return drawer if drawer is not None and drawer.room == room else None


async def current_copy(store: Store, room: str, content_hash: str) -> Drawer | None:
    """The oldest current drawer of that room with the same text, if there is one."""
    rows = await store.first(CURRENT_COPY, room=room, hash=content_hash)
    return drawer_from_row(rows[0]) if rows else None


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a drawer is current, and the name it holds."""

    name: str | None
    current: bool


STANDING = """
SELECT record::id(id) AS id, name, valid_to FROM $ids.map(|$id| type::record('drawer', $id));
"""


async def standing(store: Store, ids: Sequence[str]) -> dict[str, Standing]:
    """The standing of those of these drawers that exist, by id."""
    rows = await store.first(STANDING, ids=list(ids)) if ids else []
    return {row["id"]: Standing(row.get("name"), not row.get("valid_to")) for row in rows}


NAMES_TAKEN = "SELECT VALUE name FROM drawer WHERE room = $room AND name IN $names;"


async def names_taken(store: Store, room: str, names: Sequence[str]) -> set[str]:
    """Which of these names drawers of that room hold."""
    return set(await store.first(NAMES_TAKEN, room=room, names=list(names))) if names else set()


LISTING = """
SELECT record::id(id) AS id, room, name, string::len(content) AS chars, string::slice(content, 0, $preview) AS preview,
    source, created_at
FROM drawer WHERE room = $room ORDER BY created_at DESC, id ASC LIMIT $limit;
"""


async def list_drawers(store: Store, room: str, limit: int) -> list[DrawerSummary]:
    """The newest drawers of a room, ended ones included."""
    rows = await store.first(LISTING, room=room, limit=limit, preview=PREVIEW_CHARACTERS)
    return [
        DrawerSummary(
            id=row["id"],
            room=row["room"],
            name=row.get("name"),
            chars=row["chars"],
            preview=row["preview"],
            source=_source(row["source"]),
            created_at=row["created_at"],
        )
        for row in rows
    ]


COUNT = "SELECT VALUE count() FROM drawer GROUP ALL;"


async def count_drawers(store: Store) -> int:
    """How many drawers the palace holds, ended ones included."""
    counts = await store.first(COUNT)
    return int(counts[0]["count"] if isinstance(counts[0], Mapping) else counts[0]) if counts else 0


DELETE = "DELETE type::record('drawer', $deleted_drawer) RETURN NONE;"


def delete_drawer(id: str) -> Fragment:
    """Removes one drawer."""
    return Fragment(DELETE, {"deleted_drawer": id})


NO_ORPHAN = "no_orphan"
REMOVE_ORPHAN = f"""
IF type::record('drawer', $orphan).room != $orphan_room OR record::exists(type::record('room', $orphan_room)) {{
    THROW '{NO_ORPHAN}'
}};
DELETE type::record('drawer', $orphan) RETURN NONE;
"""


def remove_orphan(id: str, room: str) -> Fragment:
    """Removes a drawer; the transaction throws `NO_ORPHAN` when it is gone, or when its room exists."""
    return Fragment(REMOVE_ORPHAN, {"orphan": id, "orphan_room": room})


def drawer_from_row(row: Mapping[str, Any]) -> Drawer:
    """A drawer from the projection that all statements here share."""
    return Drawer(
        id=row["id"],
        room=row["room"],
        name=row.get("name"),
        content=row["content"],
        content_hash=row["content_hash"],
        source=_source(row["source"]),
        tags=tuple(row["tags"]),
        requested_by=row["provenance"].get("requested_by", "unknown"),
        job_id=row["provenance"].get("job_id"),
        valid_from=row["valid_from"],
        valid_to=row.get("valid_to"),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        supersedes=row.get("supersedes"),
        superseded_by=row.get("superseded_by"),
        ended_at=row.get("ended_at"),
    )


def _source(stored: Mapping[str, Any]) -> Source:
    origin = stored.get("origin")
    kind = stored.get("kind")
    return Source(
        kind=kind if kind in SOURCE_KINDS else "other",
        uri=stored.get("uri"),
        agent=stored.get("agent"),
        origin=Origin(
            source_id=origin["source_id"],
            source=origin["source"],
            document=origin["document"],
            chunk=origin["chunk"],
            revision=origin["revision"],
            metadata=origin.get("metadata") or {},
            occurred_at=origin.get("occurred_at"),
        )
        if origin
        else None,
    )
