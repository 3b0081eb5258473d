"""Wings and rooms: list, show, create, delete."""

from __future__ import annotations

from palace.clock import now
from palace.domain.hierarchy import Deleted, Room, Wing
from palace.domain.ids import new_id, parse_id
from palace.domain.modes import Caller
from palace.domain.names import problem_with_name
from palace.errors import PalaceBusy, PathInvalid, RoomNotFound, WingNotFound
from palace.modes import require_read, require_write
from palace.signals import deletion_requested
from palace.store import Fragment, RecordExists, current
from palace.store import hierarchy as table
from palace.store.changes import Change, announce

RACE_TRIES = 5
"""How often a creation is worked out anew because somebody else created the same thing meanwhile."""


async def list_wings(caller: Caller) -> list[Wing]:
    """All wings by name."""
    require_read(caller, "wing_list")
    return await table.list_wings(current())


async def show_wing(caller: Caller, reference: str) -> tuple[Wing, list[Room]]:
    """A wing, named or by id, and its rooms. Raises WingNotFound."""
    require_read(caller, "wing_show")
    wing = await existing_wing(reference)
    rooms = await table.list_rooms(current(), wing)
    return table.with_counts(wing, rooms), rooms


async def list_rooms(caller: Caller, wing: str) -> list[Room]:
    """The rooms of a wing by name. Raises WingNotFound."""
    require_read(caller, "room_list")
    return await table.list_rooms(current(), await existing_wing(wing))


async def show_room(caller: Caller, wing: str, reference: str) -> Room:
    """A room, named or by id, of a wing. Raises WingNotFound, RoomNotFound."""
    require_read(caller, "room_show")
    return await table.with_count(current(), await existing_room(await existing_wing(wing), reference))


async def create_wing(caller: Caller, name: str, description: str | None = None) -> tuple[Wing, bool]:
    """The wing of that name and whether it is new; an existing one keeps its description. Raises PathInvalid."""
    require_write(caller, "wing_create")
    for _ in range(RACE_TRIES):
        wing = await table.find_wing(current(), name, None)
        if wing is not None:
            return table.with_counts(wing, await table.list_rooms(current(), wing)), False
        new, fragments, changes = new_wing(name, description)
        try:
            await current().transact(*fragments, announce(new.created_at, *changes))
        except RecordExists:
            continue
        return new, True
    raise PalaceBusy(f"the wing {name!r} kept appearing and disappearing", help="Try again.")


async def create_room(caller: Caller, wing: str, name: str, description: str | None = None) -> tuple[Room, bool]:
    """The room of that name and whether it is new. A missing wing is created; an unknown wing id raises WingNotFound."""
    require_write(caller, "room_create")
    for _ in range(RACE_TRIES):
        place = await resolve_place(wing, name, description, by_name=True)
        if not place.fragments:
            return await table.with_count(current(), place.room), False
        try:
            await current().transact(*place.fragments, announce(place.room.created_at, *place.changes))
        except RecordExists:
            continue
        if await still_stands(place):
            return place.room, place.room_is_new
    raise PalaceBusy(f"the room {name!r} kept appearing and disappearing", help="Try again.")


async def delete_wing(caller: Caller, reference: str) -> Deleted:
    """Removes a wing with its rooms and drawers, in one transaction. Raises WingNotFound, PalaceBusy."""
    require_write(caller, "wing_delete")
    wing = await existing_wing(reference)
    await refuse_while_busy("wing", wing.name)
    rooms = await table.list_rooms(current(), wing)
    await _remove(table.delete_wing(wing.id, [room.id for room in rooms]), Change("wing", "deleted", wing.id))
    return Deleted(1, len(rooms), sum(room.drawers for room in rooms))


async def delete_room(caller: Caller, wing: str, reference: str) -> Deleted:
    """Removes a room with its drawers, in one transaction. Raises WingNotFound, RoomNotFound, PalaceBusy."""
    require_write(caller, "room_delete")
    room = await table.with_count(current(), await existing_room(await existing_wing(wing), reference))
    await refuse_while_busy("room", room.name)
    await _remove(table.delete_rooms([room.id]), Change("room", "deleted", room.id))
    return Deleted(0, 1, room.drawers)


async def _remove(removal: Fragment, change: Change) -> None:
    """Removes a part of the palace in one transaction, then what writers that were under way have put into it meanwhile.

    The database isolates by snapshots: a writer and a removal that do not see each other both succeed. Whoever
    commits first is seen by the second look of the other one: the writer's is `still_stands`.
    """
    await current().transact(removal, announce(now(), change))
    await current().transact(removal)


async def refuse_while_busy(kind: str, name: str) -> None:
    """Raises PalaceBusy while jobs that write to the palace are pending, whatever part of it they write to."""
    answers = await deletion_requested.asend(sender=None)
    pending = sum(int(count or 0) for _, count in answers)
    if pending:
        noun = "job that writes" if pending == 1 else "jobs that write"
        raise PalaceBusy(f"the {kind} {name!r} is not deleted while {pending} {noun} to the palace are pending")


async def existing_wing(reference: str) -> Wing:
    """The wing named `reference`, else with that id. Raises WingNotFound."""
    wing = await table.find_wing(current(), reference, parse_id(reference))
    if wing is None:
        raise WingNotFound(f"there is no wing {reference!r}")
    return wing


async def existing_room(wing: Wing, reference: str) -> Room:
    """The room of that wing named `reference`, else with that id. Raises RoomNotFound."""
    room = await table.find_room(current(), wing, reference, parse_id(reference))
    if room is None:
        raise RoomNotFound(f"the wing {wing.name!r} has no room {reference!r}")
    return room


class Place:
    """A room to write into, with the fragments that create what is missing of it."""

    def __init__(
        self, wing: Wing, room: Room, *, wing_is_new: bool, room_is_new: bool, fragments: tuple[Fragment, ...]
    ) -> None:
        self.wing = wing
        self.room = room
        self.room_is_new = room_is_new
        self.fragments = fragments
        self.changes = (
            *((Change("wing", "created", wing.id),) if wing_is_new else ()),
            *((Change("room", "created", room.id),) if room_is_new else ()),
        )


async def resolve_place(
    wing_reference: str, room_reference: str, description: str | None = None, *, by_name: bool = False
) -> Place:
    """The room to write into, existing or about to be created in the caller's transaction.

    With `by_name` the room is called `room_reference`, which is never read as an id. Raises WingNotFound or RoomNotFound
    for an id that nothing has, PathInvalid for a name that cannot be given.
    """
    wing = await table.find_wing(current(), wing_reference, parse_id(wing_reference))
    wing_fragments: tuple[Fragment, ...] = ()
    if wing is None:
        if parse_id(wing_reference) is not None:
            raise WingNotFound(f"there is no wing with the id {wing_reference}")
        wing, wing_fragments, _ = new_wing(wing_reference, None)
    room_id = None if by_name else parse_id(room_reference)
    room = None
    if not wing_fragments:
        room = await table.find_room(current(), wing, room_reference, room_id)
    if room is not None:
        return Place(wing, room, wing_is_new=False, room_is_new=False, fragments=())
    if room_id is not None:
        raise RoomNotFound(f"the wing {wing.name!r} has no room with the id {room_reference}")
    require_name(room_reference, "room")
    room = Room(new_id(), wing.id, room_reference, description, now(), wing.name)
    creation = table.create_room(room.id, wing.id, room.name, description, room.created_at)
    return Place(
        wing,
        room,
        wing_is_new=bool(wing_fragments),
        room_is_new=True,
        fragments=(*wing_fragments, creation),
    )


async def still_stands(place: Place) -> bool:
    """Whether a place that was just written into exists; if not, what was written there is removed."""
    if await table.place_stands(current(), place.wing.id, place.room.id):
        return True
    await current().transact(table.delete_rooms([place.room.id]))
    return False


def new_wing(name: str, description: str | None) -> tuple[Wing, tuple[Fragment, ...], tuple[Change, ...]]:
    """A wing that does not exist yet, the fragments that create it, and what to announce. Raises PathInvalid."""
    require_name(name, "wing")
    wing = Wing(new_id(), table.PALACE_ID, name, description, now())
    fragments = (
        table.ensure_palace(wing.created_at),
        table.create_wing(wing.id, name, description, wing.created_at),
    )
    return wing, fragments, (Change("wing", "created", wing.id),)


def require_name(name: str, kind: str) -> None:
    """Raises PathInvalid when a new wing, room or drawer cannot be given that name."""
    problem = problem_with_name(name, allow_slash=kind == "drawer")
    if problem is not None:
        raise PathInvalid(f"the {kind} name {name!r} is not usable: {problem}")
