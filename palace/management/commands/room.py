"""`room`: the rooms of the wings."""

from __future__ import annotations

import argparse

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.hierarchy import print_created, print_deleted, print_facts, print_rooms
from memcastle_site.console.parser import subcommands
from memcastle_site.console.paths import existing, to_create
from memcastle_site.console.prompts import confirm
from memcastle_site.console.text import counted

PATH_HELP = "wing and room, each by name or id"


class Command(ConsoleCommand):
    help = "List, show, create and delete rooms."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = subcommands(parser)
        listing = add("list", "list the rooms of all wings, or of one", list_rooms)
        listing.add_argument("--wing", metavar="WING", help="only this wing, by name or id")
        add("show", "show a room", show_room).add_argument("room", metavar="WING/ROOM", help=PATH_HELP)
        create = add("create", "create a room, and its wing when that is missing", create_room)
        create.add_argument("room", metavar="WING/ROOM", help="wing by name or id, and the name of the new room")
        create.add_argument("--description", metavar="TEXT")
        delete = add("delete", "delete a room with all its drawers", delete_room)
        delete.add_argument("room", metavar="WING/ROOM", help=PATH_HELP)
        delete.add_argument("-y", "--yes", action="store_true", help="do not ask")


def list_rooms(call: Call) -> None:
    if call.args.wing is not None:
        wings = [existing(call.args.wing, 1).wing]
    else:
        # By id: an old wing may have a name that only its id can stand for in a path.
        wings = [wing["id"] for wing in call.client.get(route("wings"))]
    rooms = [room for wing in wings for room in call.client.get(route("wings", wing, "rooms"))]
    call.screen.show(rooms, lambda console: print_rooms(console, rooms))


def show_room(call: Call) -> None:
    room = call.client.get(_address(call))
    title = f"{room['wing_name']}/{room['name']}"
    call.screen.show(room, lambda console: print_facts(console, "room", title, room, counted(room["drawers"], "drawer")))


def create_room(call: Call) -> None:
    path = to_create(call.args.room, 2)
    body = {"name": path.room, "description": call.args.description}
    room = call.client.post(route("wings", path.wing, "rooms"), body)
    call.screen.show(room, lambda console: print_created(console, "room", f"{room['wing_name']}/{room['name']}", room))


def delete_room(call: Call) -> None:
    address = _address(call)

    def question() -> str:
        room = call.client.get(address)
        title = f"{room['wing_name']}/{room['name']}"
        return f"Delete the room {title!r} with {counted(room['drawers'], 'drawer')}?"

    confirm(call.screen, question, yes=call.args.yes)
    deleted = call.client.delete(address)
    call.screen.show(deleted, lambda console: print_deleted(console, deleted))


def _address(call: Call) -> str:
    path = existing(call.args.room, 2)
    return route("wings", path.wing, "rooms", path.room or "")
