"""Texts that a job files one by one: each drawer, and what the job must see committed with it, in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from palace.clock import now
from palace.domain.drawer import Drawer, Source
from palace.domain.modes import Caller
from palace.domain.texts import content_hash
from palace.errors import PalaceBusy
from palace.modes import require_write
from palace.services.drawers import existing_copy
from palace.services.hierarchy import RACE_TRIES, resolve_place
from palace.signals import drawers_written
from palace.store import Fragment, RecordExists, TransactionRefused, current
from palace.store import drawers as table
from palace.store.changes import Change, announce
from palace.store.hierarchy import ROOM_GONE, delete_rooms, place_stands, require_place


@dataclass(frozen=True, slots=True)
class Item:
    """A text with the names of its place, and the id that its drawer has whenever it is filed."""

    id: str
    wing: str
    room: str
    content: str
    name: str | None
    source: Source
    tags: tuple[str, ...]
    job_id: str


async def file_item(caller: Caller, item: Item, along: Callable[[bool], Fragment]) -> bool:
    """Stores a text for a job unless the room holds it already; returns whether it is stored as a drawer of its own.

    `along` is told the same and gives what is committed with it, in one transaction, so that the job never knows less
    or more than what is stored. A missing wing or room is created. Not stored again is an unnamed text that a current
    drawer of the room holds, and a named one that the room holds under that name. A drawer that has the item's id
    already is the item, stored by an earlier run.

    Raises DrawerNameTaken when the name holds other content, PathInvalid for an unusable name of a new wing, and
    TransactionRefused with a reason of `along`; nothing is written then. Raises PalaceBusy when others keep changing the
    place.
    """
    require_write(caller, "checkpoint")
    digest = content_hash(item.content)
    leftover: tuple[Fragment, ...] = ()
    for _ in range(RACE_TRIES):
        place = await resolve_place(item.wing, item.room, by_name=True)
        held = None if place.room_is_new else await existing_copy(place.room, digest, item.name)
        if held is not None:
            stored = held.id == item.id
            await current().transact(*leftover, along(stored))
            return stored
        drawer = _drawer(caller, item, place.room.id, digest)
        changes = (*place.changes, Change("drawer", "created", drawer.id))
        try:
            await current().transact(
                *leftover,
                *place.fragments,
                require_place(place.wing.id, place.room.id),
                table.insert_drawers([drawer], unique_copies=True),
                along(True),
                announce(drawer.created_at, *changes),
            )
        except RecordExists:
            if not leftover and await table.read_drawer(current(), item.id) is not None:
                await current().transact(along(True))
                return True
            continue
        except TransactionRefused as refusal:
            if refusal.reason != ROOM_GONE:
                raise
            continue
        if await place_stands(current(), place.wing.id, place.room.id):
            await drawers_written.asend(sender=None)
            return True
        # Another daemon deleted the place at that very moment. What lies there moves to its new place in one piece.
        leftover = (delete_rooms([place.room.id]),)
    raise PalaceBusy(f"the room {item.room!r} of the wing {item.wing!r} is under heavy change", help="Try again.")


def _drawer(caller: Caller, item: Item, room: str, digest: str) -> Drawer:
    moment = now()
    return Drawer(
        id=item.id,
        room=room,
        name=item.name,
        content=item.content,
        content_hash=digest,
        source=item.source,
        tags=item.tags,
        requested_by=caller.requested_by,
        job_id=item.job_id,
        valid_from=moment,
        valid_to=None,
        created_at=moment,
        updated_at=moment,
    )
