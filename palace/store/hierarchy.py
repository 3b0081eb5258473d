"""The tables `palace`, `wing` and `room`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from palace.domain.clock import Timestamp
from palace.domain.hierarchy import Room, Wing
from palace.domain.ids import NIL, derived_id
from palace.store.connection import Fragment, Store

PALACE_ID = derived_id(NIL, "palace")
"""One palace a database, so its record has one id that two first writers agree on."""

PALACE_NAME = "default"

ENSURE_PALACE = """
INSERT IGNORE INTO palace {
    id: type::record('palace', $palace_id), name: $palace_name, created_at: $palace_created_at
} RETURN NONE;
"""


def ensure_palace(at: Timestamp) -> Fragment:
    """Creates the palace's own record when it is missing."""
    return Fragment(ENSURE_PALACE, {"palace_id": PALACE_ID, "palace_name": PALACE_NAME, "palace_created_at": at})


READ_PALACE_NAME = "SELECT VALUE name FROM palace LIMIT 1;"


async def palace_name(store: Store) -> str:
    """The palace's name, `default` until a write created its record."""
    names = await store.first(READ_PALACE_NAME)
    return str(names[0]) if names else PALACE_NAME


CREATE_WING = """
CREATE type::record('wing', $wing_id) CONTENT {
    palace: $wing_palace, name: $wing_name, description: $wing_description, created_at: $wing_created_at
} RETURN NONE;
"""


def create_wing(id: str, name: str, description: str | None, at: Timestamp) -> Fragment:
    """Creates a wing; the transaction fails with RecordExists when its name is taken."""
    variables = {
        "wing_id": id,
        "wing_palace": PALACE_ID,
        "wing_name": name,
        "wing_description": description,
        "wing_created_at": at,
    }
    return Fragment(CREATE_WING, variables)


CREATE_ROOM = """
CREATE type::record('room', $room_id) CONTENT {
    wing: $room_wing, name: $room_name, description: $room_description, created_at: $room_created_at
} RETURN NONE;
"""


def create_room(id: str, wing: str, name: str, description: str | None, at: Timestamp) -> Fragment:
    """Creates a room; the transaction fails with RecordExists when its name is taken in the wing."""
    variables = {
        "room_id": id,
        "room_wing": wing,
        "room_name": name,
        "room_description": description,
        "room_created_at": at,
    }
    return Fragment(CREATE_ROOM, variables)


_WING_FIELDS = "record::id(id) AS id, palace, name, description, created_at"
_ROOM_FIELDS = "record::id(id) AS id, wing, name, description, created_at"
WINGS = f"SELECT {_WING_FIELDS} FROM wing ORDER BY name;"
WING_BY_NAME = f"SELECT {_WING_FIELDS} FROM wing WHERE palace = $palace AND name = $name;"
WING_BY_ID = f"SELECT {_WING_FIELDS} FROM type::record('wing', $id);"
ROOM_BY_NAME = f"SELECT {_ROOM_FIELDS} FROM room WHERE wing = $wing AND name = $name;"
ROOM_BY_ID = f"SELECT {_ROOM_FIELDS} FROM type::record('room', $id) WHERE wing = $wing;"
# Counting per room through the room index is several times cheaper than grouping, which would decode every drawer.
_WITH_COUNTS = """{
    LET $rooms = (%s);
    RETURN $rooms.map(|$room| object::extend($room, {
        drawers: (SELECT VALUE count() FROM drawer WHERE room = $room.id GROUP ALL)[0] ?? 0
    }));
};
"""
ALL_ROOMS = _WITH_COUNTS % f"SELECT {_ROOM_FIELDS} FROM room"
ROOMS_OF_WING = _WITH_COUNTS % f"SELECT {_ROOM_FIELDS} FROM room WHERE wing = $wing"
DRAWERS_OF_ROOM = "SELECT VALUE count() FROM drawer WHERE room = $room GROUP ALL;"


async def list_wings(store: Store) -> list[Wing]:
    """All wings by name, with their counts."""
    wings, rooms = await store.query(WINGS + ALL_ROOMS)
    drawers: dict[str, list[int]] = {}
    for room in rooms:
        drawers.setdefault(room["wing"], []).append(_count(room["drawers"]))
    counted = ((_wing(row), drawers.get(row["id"], [])) for row in wings)
    return [replace(wing, rooms=len(counts), drawers=sum(counts)) for wing, counts in counted]


async def find_wing(store: Store, reference: str, id: str | None) -> Wing | None:
    """The wing named `reference`, else the one with the given id, without its counts. Names come first."""
    rows = await store.first(WING_BY_NAME, palace=PALACE_ID, name=reference)
    if not rows and id is not None:
        rows = await store.first(WING_BY_ID, id=id)
    return _wing(rows[0]) if rows else None


async def find_room(store: Store, wing: Wing, reference: str, id: str | None) -> Room | None:
    """The room of that wing named `reference`, else the one with the given id, without its count. Names come first."""
    rows = await store.first(ROOM_BY_NAME, wing=wing.id, name=reference)
    if not rows and id is not None:
        rows = await store.first(ROOM_BY_ID, wing=wing.id, id=id)
    return _room(rows[0], wing.name) if rows else None


async def list_rooms(store: Store, wing: Wing) -> list[Room]:
    """The rooms of a wing by name, with their counts."""
    rows = await store.first(ROOMS_OF_WING, wing=wing.id)
    counted = (replace(_room(row, wing.name), drawers=_count(row["drawers"])) for row in rows)
    return sorted(counted, key=lambda room: room.name)


def with_counts(wing: Wing, rooms: Sequence[Room]) -> Wing:
    """The wing with the counts of these rooms, which are all it has."""
    return replace(wing, rooms=len(rooms), drawers=sum(room.drawers for room in rooms))


async def with_count(store: Store, room: Room) -> Room:
    """The room with its number of drawers."""
    counts = await store.first(DRAWERS_OF_ROOM, room=room.id)
    return replace(room, drawers=_count(counts[0]) if counts else 0)


def _wing(row: Mapping[str, Any]) -> Wing:
    return Wing(row["id"], row["palace"], row["name"], row.get("description"), row["created_at"])


def _room(row: Mapping[str, Any], wing_name: str) -> Room:
    return Room(row["id"], row["wing"], row["name"], row.get("description"), row["created_at"], wing_name)


def _count(count: int | Mapping[str, int]) -> int:
    return int(count["count"] if isinstance(count, Mapping) else count)


ROOM_KEYS = "SELECT record::id(id) AS id, name FROM room"
WING_KEYS = "SELECT VALUE record::id(id) FROM wing WHERE palace = $palace AND name = $wing;"


async def matching_rooms(store: Store, wing: str | None, room: str | None) -> list[str]:
    """Ids of the rooms with that wing name and that room name; None matches every name."""
    if wing is None:
        rows = await store.first(f"{ROOM_KEYS};")
    else:
        wings = await store.first(WING_KEYS, palace=PALACE_ID, wing=wing)
        rows = await store.first(f"{ROOM_KEYS} WHERE wing IN $wings;", wings=wings) if wings else []
    return [row["id"] for row in rows if room is None or row["name"] == room]


PLACES = """{
    LET $found = (SELECT record::id(id) AS id, name, wing FROM $rooms.map(|$id| type::record('room', $id)));
    LET $wings = (SELECT record::id(id) AS id, name
        FROM array::distinct($found.wing).map(|$id| type::record('wing', $id)));
    RETURN { rooms: $found, wings: $wings };
};
"""


async def places(store: Store, rooms: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Wing name and room name of each of these rooms that exists."""
    answer = await store.first(PLACES, rooms=list(set(rooms)))
    found, wings = answer["rooms"], answer["wings"]
    names = {wing["id"]: wing["name"] for wing in wings}
    return {room["id"]: (names[room["wing"]], room["name"]) for room in found if room["wing"] in names}


PLACE_STANDS = """
RETURN record::exists(type::record('wing', $wing)) AND record::exists(type::record('room', $room));
"""


async def place_stands(store: Store, wing: str, room: str) -> bool:
    """Whether the wing and the room with these ids still exist."""
    return bool(await store.first(PLACE_STANDS, wing=wing, room=room))


ROOM_GONE = "room_gone"
REQUIRE_ROOMS = f"""
IF $required_rooms.any(|$id| !record::exists(type::record('room', $id))) {{ THROW '{ROOM_GONE}' }};
"""


def require_rooms(rooms: Iterable[str]) -> Fragment:
    """Makes the transaction throw `ROOM_GONE` when one of these rooms does not exist."""
    return Fragment(REQUIRE_ROOMS, {"required_rooms": sorted(set(rooms))})


REQUIRE_PLACE = f"""
IF !record::exists(type::record('wing', $place_wing)) OR !record::exists(type::record('room', $place_room)) {{
    THROW '{ROOM_GONE}'
}};
"""


def require_place(wing: str, room: str) -> Fragment:
    """Makes the transaction throw `ROOM_GONE` when the wing or the room does not exist at that point of it."""
    return Fragment(REQUIRE_PLACE, {"place_wing": wing, "place_room": room})


DELETE_ROOMS = """
DELETE drawer WHERE room IN $deleted_rooms RETURN NONE;
DELETE $deleted_rooms.map(|$id| type::record('room', $id)) RETURN NONE;
"""
# Rooms that were created since the listing go too.
DELETE_WING = f"""
LET $deleted_rooms = array::union($listed_rooms, (SELECT VALUE record::id(id) FROM room WHERE wing = $deleted_wing));
{DELETE_ROOMS}
DELETE type::record('wing', $deleted_wing) RETURN NONE;
"""


def delete_rooms(rooms: Sequence[str]) -> Fragment:
    """Removes these rooms and every drawer in them."""
    return Fragment(DELETE_ROOMS, {"deleted_rooms": list(rooms)})


def delete_wing(wing: str, rooms: Sequence[str]) -> Fragment:
    """Removes a wing with these rooms, those it has got meanwhile, and every drawer in them."""
    return Fragment(DELETE_WING, {"deleted_wing": wing, "listed_rooms": list(rooms)})
