"""Correcting memory without rewriting it: a drawer is ended, by a successor or for good, and its history stays readable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from palace.clock import now
from palace.domain.clock import Timestamp, after
from palace.domain.drawer import Closing, Drawer, Source
from palace.domain.ids import new_id, parse_id
from palace.domain.modes import Caller
from palace.domain.texts import content_hash
from palace.errors import DrawerNotFound, DrawerSuperseded, InvalidInput
from palace.modes import require_read, require_write
from palace.services.drawers import became_true, require_text
from palace.signals import drawers_written
from palace.store import TransactionRefused, current
from palace.store import drawers as table
from palace.store.changes import Change, announce
from palace.store.hierarchy import ROOM_GONE, require_rooms


@dataclass(frozen=True, slots=True)
class Supersession:
    """A drawer that was ended, and the one that took its place, if one did."""

    superseded: Drawer
    replacement: Drawer | None


@dataclass(frozen=True, slots=True)
class History:
    """All versions of a memory, oldest first, and the drawer that was asked about."""

    drawer: str
    versions: tuple[Drawer, ...]


async def supersede(
    caller: Caller,
    drawer_id: str,
    content: str | None = None,
    tags: Sequence[str] | None = None,
    *,
    valid_from: str | None = None,
) -> Supersession:
    """Ends a drawer, in one transaction with its replacement when there is a content; without one it is invalidated.

    The replacement takes the room, the name and, unless some are given, the tags of the old drawer, which keeps its
    content and loses its name. `valid_from` is when the new state of things began, default now; it lies after the
    beginning of the old one and not in the future. Raises InvalidInput, DrawerNotFound, and DrawerSuperseded when the
    drawer has ended already.
    """
    require_write(caller, "drawer_supersede")
    if content is not None:
        require_text(content)
    identity = drawer_identity(drawer_id)
    known_since = None if valid_from is None else became_true(valid_from)
    old = await read(identity)
    if old.valid_to is not None:
        raise _ended(identity)
    moment = now()
    change = known_since or max(moment, after(old.valid_from))
    if change <= old.valid_from:
        raise InvalidInput("valid_from", f"the drawer holds from {old.valid_from} on only; what replaces it begins later")
    new = None if content is None else _replacement(caller, old, content, tags, change, moment)
    try:
        await current().transact(
            table.close_drawers([Closing(old.id, change, new.id if new else None, moment)]),
            *((require_rooms([old.room]), table.insert_drawers([new])) if new else ()),
            announce(moment, Change("drawer", "updated", old.id), *((Change("drawer", "created", new.id),) if new else ())),
        )
    except TransactionRefused as refusal:
        if refusal.reason == ROOM_GONE or await table.read_drawer(current(), identity) is None:
            raise _unknown(identity) from None
        raise _ended(identity) from None
    await drawers_written.asend(sender=None)
    closed = replace(old, valid_to=change, updated_at=moment, name=None, superseded_by=new.id if new else None, ended_at=moment)
    return Supersession(closed, new)


def _replacement(
    caller: Caller, old: Drawer, content: str, tags: Sequence[str] | None, valid_from: Timestamp, moment: Timestamp
) -> Drawer:
    return Drawer(
        id=new_id(),
        room=old.room,
        name=old.name,
        content=content,
        content_hash=content_hash(content),
        source=Source("manual", agent=old.source.agent),
        tags=old.tags if tags is None else tuple(tags),
        requested_by=caller.requested_by,
        job_id=None,
        valid_from=valid_from,
        valid_to=None,
        created_at=moment,
        updated_at=moment,
        supersedes=old.id,
    )


async def history(caller: Caller, drawer_id: str) -> History:
    """Every version of the memory that the drawer is one of, oldest first, whichever version is asked about.

    Follows the links both ways as far as drawers exist. Raises InvalidInput on `id`, DrawerNotFound.
    """
    require_read(caller, "history")
    asked = await read(drawer_identity(drawer_id))
    earlier: list[Drawer] = []
    later: list[Drawer] = []
    seen = {asked.id}
    for versions, link in ((earlier, "supersedes"), (later, "superseded_by")):
        version = asked
        while (next_id := getattr(version, link)) is not None and next_id not in seen:
            seen.add(next_id)
            found = await table.read_drawer(current(), next_id)
            if found is None:
                break
            versions.append(found)
            version = found
    return History(asked.id, (*reversed(earlier), asked, *later))


async def read(drawer_id: str) -> Drawer:
    """The drawer with that id. Raises DrawerNotFound."""
    drawer = await table.read_drawer(current(), drawer_id)
    if drawer is None:
        raise _unknown(drawer_id)
    return drawer


def drawer_identity(text: str) -> str:
    """The id that a text spells. Raises InvalidInput on `id`."""
    identity = parse_id(text)
    if identity is None:
        raise InvalidInput("id", f"{text!r} is no drawer id; drawer ids are UUIDs")
    return identity


def _unknown(drawer_id: str) -> DrawerNotFound:
    return DrawerNotFound(f"there is no drawer {drawer_id}")


def _ended(drawer_id: str) -> DrawerSuperseded:
    return DrawerSuperseded(f"the validity of drawer {drawer_id} has ended already")
