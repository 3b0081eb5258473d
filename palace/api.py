"""REST routes of the palace hierarchy: wings, rooms, drawers."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Body as BodyParam
from ninja import Path, Query, Router, Schema, Status
from pydantic import Field

from palace import services
from palace.http import Body, Limit, caller
from palace.schemas import DeletedOut, DrawerOut, DrawerSummaryOut, RoomOut, WingOut

router = Router(tags=["palace"])

Reference = Annotated[str, Path(description="A name, or a UUID when nothing has that name.")]


DrawerId = Annotated[str, Path(description="The drawer's UUID.")]


class PlaceIn(Body):
    """What a new wing or room is called."""

    name: str
    description: str | None = None


class DrawerIn(Body):
    """A text to store verbatim."""

    content: str = Field(description="The text; it must not be blank.")
    name: str | None = Field(None, description="A name of its own in the room; may hold slashes.")
    valid_from: str | None = Field(None, description="When it became true: RFC 3339 or a date, not in the future; default now.")
    requested_by: str | None = Field(None, description="The channel recorded with the drawer; default http.")


class SupersedeIn(Body):
    """What takes the place of a drawer; nothing at all ends it without a successor."""

    content: str | None = Field(None, description="The text that holds from now on; left out, the drawer is invalidated.")
    tags: list[str] | None = Field(None, description="Tags of the replacement; default those of the drawer.")
    valid_from: str | None = Field(None, description="When the change happened: RFC 3339 or a date; default now.")
    requested_by: str | None = Field(None, description="The channel recorded with the replacement; default http.")


class SupersededOut(Schema):
    superseded: DrawerOut
    replacement: DrawerOut | None


class HistoryOut(Schema):
    drawer: str = Field(description="The drawer asked about.")
    versions: list[DrawerOut] = Field(description="All versions, oldest first.")


class WingCreated(WingOut):
    created: bool


class RoomCreated(RoomOut):
    created: bool


class DrawerCreated(DrawerOut):
    created: bool


class WingWithRooms(Schema):
    wing: WingOut
    rooms: list[RoomOut]


@router.get("/wings", response=list[WingOut])
async def list_wings(request: HttpRequest) -> list[dict[str, Any]]:
    """All wings by name, with the counts of their rooms and drawers."""
    return [wing.as_json() for wing in await services.list_wings(caller(request))]


@router.post("/wings", response={200: WingCreated, 201: WingCreated})
async def create_wing(request: HttpRequest, body: Annotated[PlaceIn, BodyParam()]) -> Status[dict[str, Any]]:
    """Creates a wing (201), or gives the existing one of that name (200), whose description stays."""
    wing, created = await services.create_wing(caller(request), body.name, body.description)
    return Status(201 if created else 200, {"created": created, **wing.as_json()})


@router.get("/wings/{wing}", response=WingWithRooms)
async def show_wing(request: HttpRequest, wing: Reference) -> dict[str, Any]:
    """A wing and its rooms."""
    found, rooms = await services.show_wing(caller(request), wing)
    return {"wing": found.as_json(), "rooms": [room.as_json() for room in rooms]}


@router.delete("/wings/{wing}", response=DeletedOut)
async def delete_wing(request: HttpRequest, wing: Reference) -> dict[str, int]:
    """Removes a wing with everything in it; refused (409) while jobs that write to the palace are pending."""
    return (await services.delete_wing(caller(request), wing)).as_json()


@router.get("/wings/{wing}/rooms", response=list[RoomOut])
async def list_rooms(request: HttpRequest, wing: Reference) -> list[dict[str, Any]]:
    """The rooms of a wing by name."""
    return [room.as_json() for room in await services.list_rooms(caller(request), wing)]


@router.post("/wings/{wing}/rooms", response={200: RoomCreated, 201: RoomCreated})
async def create_room(request: HttpRequest, wing: Reference, body: Annotated[PlaceIn, BodyParam()]) -> Status[dict[str, Any]]:
    """Creates a room (201) and, when missing, its wing; or gives the existing one (200)."""
    room, created = await services.create_room(caller(request), wing, body.name, body.description)
    return Status(201 if created else 200, {"created": created, **room.as_json()})


@router.get("/wings/{wing}/rooms/{room}", response=RoomOut)
async def show_room(request: HttpRequest, wing: Reference, room: Reference) -> dict[str, Any]:
    """One room."""
    return (await services.show_room(caller(request), wing, room)).as_json()


@router.delete("/wings/{wing}/rooms/{room}", response=DeletedOut)
async def delete_room(request: HttpRequest, wing: Reference, room: Reference) -> dict[str, int]:
    """Removes a room with its drawers; refused (409) while jobs that write to the palace are pending."""
    return (await services.delete_room(caller(request), wing, room)).as_json()


@router.get("/wings/{wing}/rooms/{room}/drawers", response=list[DrawerSummaryOut], exclude_unset=True)
async def list_drawers(
    request: HttpRequest, wing: Reference, room: Reference, limit: Annotated[Limit, Query()] = None
) -> list[dict[str, Any]]:
    """The newest drawers of a room, with the beginning of their content (default 50, at most 200)."""
    return [drawer.as_json() for drawer in await services.list_drawers(caller(request), wing, room, limit)]


@router.post(
    "/wings/{wing}/rooms/{room}/drawers",
    response={200: DrawerCreated, 201: DrawerCreated},
    exclude_unset=True,
)
async def create_drawer(
    request: HttpRequest, wing: Reference, room: Reference, body: Annotated[DrawerIn, BodyParam()]
) -> Status[dict[str, Any]]:
    """Stores a text verbatim (201), or gives the drawer that holds it already (200). Missing parents are created."""
    asking = caller(request, body.requested_by)
    drawer, created = await services.create_drawer(asking, wing, room, body.content, body.name, valid_from=body.valid_from)
    return Status(201 if created else 200, {"created": created, **drawer.as_json()})


@router.get("/wings/{wing}/rooms/{room}/drawers/{path:drawer}", response=DrawerOut, exclude_unset=True)
async def show_drawer(request: HttpRequest, wing: Reference, room: Reference, drawer: Reference) -> dict[str, Any]:
    """One drawer with its content, verbatim."""
    return (await services.show_drawer(caller(request), wing, room, drawer)).as_json()


@router.delete("/wings/{wing}/rooms/{room}/drawers/{path:drawer}", response=DeletedOut)
async def delete_drawer(request: HttpRequest, wing: Reference, room: Reference, drawer: Reference) -> dict[str, int]:
    """Removes one drawer."""
    return (await services.delete_drawer(caller(request), wing, room, drawer)).as_json()


@router.post("/drawers/{drawer_id}/supersede", response=SupersededOut, exclude_unset=True)
async def supersede_drawer(
    request: HttpRequest, drawer_id: DrawerId, body: Annotated[SupersedeIn, BodyParam()]
) -> dict[str, Any]:
    """Ends a drawer, in favour of a new text or, without one, for good; refused (409) when it has ended already."""
    asking = caller(request, body.requested_by)
    done = await services.supersede(asking, drawer_id, body.content, body.tags, valid_from=body.valid_from)
    return {
        "superseded": done.superseded.as_json(),
        "replacement": None if done.replacement is None else done.replacement.as_json(),
    }


@router.get("/drawers/{drawer_id}/history", response=HistoryOut, exclude_unset=True)
async def drawer_history(request: HttpRequest, drawer_id: DrawerId) -> dict[str, Any]:
    """Every version of a memory, oldest first, whichever of them is asked about."""
    found = await services.history(caller(request), drawer_id)
    return {"drawer": found.drawer, "versions": [version.as_json() for version in found.versions]}
