"""Drawers written and read by hand: create, list, show, delete."""

from __future__ import annotations

from palace.clock import now
from palace.domain.clock import Timestamp, instant
from palace.domain.drawer import Drawer, DrawerSummary, Source
from palace.domain.hierarchy import Deleted, Room
from palace.domain.ids import new_id, parse_id
from palace.domain.limits import effective_limit
from palace.domain.modes import Caller
from palace.domain.texts import content_hash
from palace.errors import DrawerNameTaken, DrawerNotFound, InvalidInput, PalaceBusy
from palace.modes import require_read, require_write
from palace.services.hierarchy import RACE_TRIES, existing_room, existing_wing, require_name, resolve_place, still_stands
from palace.signals import drawers_written
from palace.store import Fragment, RecordExists, TransactionRefused, current
from palace.store import drawers as table
from palace.store.changes import Change, announce

LISTING_LIMIT = 50


async def list_drawers(caller: Caller, wing: str, room: str, limit: int | None = None) -> list[DrawerSummary]:
    """The newest drawers of a room, without their content. Raises WingNotFound, RoomNotFound."""
    require_read(caller, "drawer_list")
    found = await existing_room(await existing_wing(wing), room)
    return await table.list_drawers(current(), found.id, effective_limit(limit, LISTING_LIMIT))


async def show_drawer(caller: Caller, wing: str, room: str, reference: str) -> Drawer:
    """A drawer, named or by id, of a room. Raises WingNotFound, RoomNotFound, DrawerNotFound."""
    require_read(caller, "drawer_show")
    return await existing_drawer(await existing_room(await existing_wing(wing), room), reference)


async def create_drawer(
    caller: Caller, wing: str, room: str, content: str, name: str | None = None, *, valid_from: str | None = None
) -> tuple[Drawer, bool]:
    """Stores a text by hand; returns the drawer and whether it is new.

    A missing wing or room is created. An unnamed text that the room already holds, current, is not stored again,
    nor is a named one under the same name. `valid_from` is when the text became true, now unless it is given. Raises
    InvalidInput for a blank text and for an instant in the future, PathInvalid for an unusable name, WingNotFound or
    RoomNotFound for an unknown id, DrawerNameTaken when the name holds other content.
    """
    require_write(caller, "drawer_create")
    require_text(content)
    if name is not None:
        require_name(name, "drawer")
    true_since = None if valid_from is None else became_true(valid_from)
    digest = content_hash(content)
    for _ in range(RACE_TRIES):
        place = await resolve_place(wing, room)
        if not place.room_is_new:
            existing = await existing_copy(place.room, digest, name)
            if existing is not None:
                return existing, False
        drawer = _new_drawer(caller, place.room.id, content, digest, name, true_since)
        changes = (*place.changes, Change("drawer", "created", drawer.id))
        try:
            await current().transact(
                *place.fragments,
                table.insert_drawers([drawer], unique_copies=True),
                announce(drawer.created_at, *changes),
            )
        except RecordExists:
            continue
        if await still_stands(place):
            await drawers_written.asend(sender=None)
            return drawer, True
    raise PalaceBusy(f"the room {room!r} is under heavy change and the drawer was not stored", help="Try again.")


def became_true(text: str) -> Timestamp:
    """The instant from which something is said to hold. Raises InvalidInput on `valid_from`, for the future too."""
    try:
        moment = instant(text)
    except ValueError as error:
        raise InvalidInput("valid_from", str(error)) from None
    if moment > now():
        raise InvalidInput("valid_from", f"{moment} lies in the future; memory holds what is, or was, true")
    return moment


def require_text(content: str) -> None:
    """Raises InvalidInput on `content` for what no drawer can hold."""
    if not content.strip():
        raise InvalidInput("content", "it is blank; a drawer holds text")
    if "\0" in content:
        raise InvalidInput("content", "it holds a NUL character, which is not text")


async def existing_copy(room: Room, digest: str, name: str | None) -> Drawer | None:
    """The drawer that makes storing such a text needless. Raises DrawerNameTaken when the name holds other content."""
    if name is None:
        return await table.current_copy(current(), room.id, digest)
    holder = await table.find_drawer(current(), room.id, name, None)
    if holder is not None and holder.content_hash != digest:
        raise DrawerNameTaken(f"the room {room.name!r} holds other content under the name {name!r}")
    return holder


def _new_drawer(caller: Caller, room: str, content: str, digest: str, name: str | None, valid_from: Timestamp | None) -> Drawer:
    moment = now()
    return Drawer(
        id=new_id(),
        room=room,
        name=name,
        content=content,
        content_hash=digest,
        source=Source("manual"),
        tags=(),
        requested_by=caller.requested_by,
        job_id=None,
        valid_from=valid_from or moment,
        valid_to=None,
        created_at=moment,
        updated_at=moment,
    )


async def delete_drawer(caller: Caller, wing: str, room: str, reference: str) -> Deleted:
    """Removes one drawer; pending jobs do not hinder it. Raises as `show_drawer`."""
    require_write(caller, "drawer_delete")
    drawer = await existing_drawer(await existing_room(await existing_wing(wing), room), reference)
    await current().transact(table.delete_drawer(drawer.id), announce(now(), Change("drawer", "deleted", drawer.id)))
    return Deleted(0, 0, 1)


async def remove_orphan(caller: Caller, drawer: str, room: str, along: Fragment) -> bool:
    """Removes a drawer whose room does not exist, together with the caller's own fragment; returns whether it did.

    It did not when the drawer is gone already or its room exists after all; then nothing is written. Raises
    TransactionRefused with a reason of `along`.
    """
    require_write(caller, "repair")
    try:
        await current().transact(table.remove_orphan(drawer, room), along, announce(now(), Change("drawer", "deleted", drawer)))
    except TransactionRefused as refusal:
        if refusal.reason != table.NO_ORPHAN:
            raise
        return False
    return True


async def existing_drawer(room: Room, reference: str) -> Drawer:
    """The drawer of that room named `reference`, else with that id. Raises DrawerNotFound."""
    drawer = await table.find_drawer(current(), room.id, reference, parse_id(reference))
    if drawer is None:
        raise DrawerNotFound(f"the room {room.name!r} has no drawer {reference!r}")
    return drawer
