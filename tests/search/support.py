"""What the tests of search share: drawers with any property put straight into the palace, and searches by text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from palace import services
from palace.clock import now
from palace.domain.drawer import Drawer, Source
from palace.domain.ids import new_id
from palace.domain.modes import Caller
from palace.domain.texts import content_hash
from palace.store import Store
from palace.store.drawers import insert_drawers
from search.domain.query import query_from_text
from search.services import SearchHit, search

CALLER = Caller(requested_by="test")


async def room(wing: str = "w", room: str = "r") -> str:
    """The id of that room, made when it is missing."""
    return (await services.create_room(CALLER, wing, room))[0].id


def drawer(
    room: str,
    content: str,
    *,
    id: str | None = None,
    kind: str = "manual",
    tags: Sequence[str] = (),
    valid_from: str | None = None,
    valid_to: str | None = None,
) -> Drawer:
    """A drawer as a writer of any kind would make it."""
    at = now()
    return Drawer(
        id=id or new_id(),
        room=room,
        name=None,
        content=content,
        content_hash=content_hash(content),
        source=Source(kind),
        tags=tuple(tags),
        requested_by="test",
        job_id=None,
        valid_from=valid_from or at,
        valid_to=valid_to,
        created_at=at,
        updated_at=at,
    )


async def put(palace: Store, *drawers: Drawer) -> None:
    await palace.transact(insert_drawers(drawers))


async def put_texts(palace: Store, *contents: str) -> None:
    """Stores these texts in one room."""
    place = await room()
    await put(palace, *(drawer(place, content) for content in contents))


async def hits(q: str, **options: Any) -> list[SearchHit]:
    """What a search for these words finds, with the options of the query string."""
    return await search(CALLER, query_from_text(q=q, **options))


async def found(q: str, **options: Any) -> list[str]:
    """The contents that a search finds, best first."""
    return [hit.drawer.content for hit in await hits(q, **options)]
