"""`drawer`: the drawers of a room."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.given import given_text
from memcastle_site.console.hierarchy import print_created, print_deleted, print_drawers
from memcastle_site.console.parser import subcommands
from memcastle_site.console.paths import existing, to_create
from memcastle_site.console.prompts import confirm
from memcastle_site.console.text import counted, harmless, moment
from palace.errors import InvalidInput

PATH_HELP = "each part by name or id; everything after the second slash is the drawer"


class Command(ConsoleCommand):
    help = "List, show, create, correct and delete drawers."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = subcommands(parser)
        listing = add("list", "list the newest drawers of a room, without their content", list_drawers)
        listing.add_argument("--room", metavar="WING/ROOM", required=True, help="wing and room, each by name or id")
        listing.add_argument("--limit", metavar="N", type=int, help="default 50, at most 200")
        add("show", "print a drawer's content", show_drawer).add_argument("drawer", metavar="WING/ROOM/DRAWER", help=PATH_HELP)
        create = add("create", "store a text verbatim; without --content and --file it is read from stdin", create_drawer)
        create.add_argument("drawer", metavar="WING/ROOM[/NAME]", help="without NAME the drawer has no name, only an id")
        text = create.add_mutually_exclusive_group()
        text.add_argument("--content", metavar="TEXT", help="the text itself")
        text.add_argument("--file", metavar="FILE", help="a UTF-8 file; - is stdin")
        create.add_argument("--valid-from", metavar="WHEN", help="when it became true: RFC 3339 or YYYY-MM-DD; default now")
        supersede = add(
            "supersede", "end a drawer and store what holds instead; without a text it is invalidated", supersede_drawer
        )
        supersede.add_argument("drawer", metavar="ID", help="id of the drawer")
        supersede.add_argument("--content", metavar="TEXT", help="the text that holds from now on")
        supersede.add_argument(
            "--tag", metavar="TAG", action="append", help="tags of the replacement; default those of the drawer"
        )
        supersede.add_argument("--valid-from", metavar="WHEN", help="when the change happened; default now")
        history = add("history", "show every version of a memory, oldest first", show_history)
        history.add_argument("drawer", metavar="ID", help="id of any version")
        delete = add("delete", "delete a drawer", delete_drawer)
        delete.add_argument("drawer", metavar="WING/ROOM/DRAWER", help=PATH_HELP)
        delete.add_argument("-y", "--yes", action="store_true", help="do not ask")


def list_drawers(call: Call) -> None:
    path = existing(call.args.room, 2)
    if call.args.limit is not None and call.args.limit < 0:
        raise InvalidInput("--limit", "it must not be negative")
    address = route("wings", path.wing, "rooms", path.room or "", "drawers")
    drawers = call.client.get(address, {"limit": call.args.limit})
    call.screen.show(drawers, lambda console: print_drawers(console, drawers, call.screen.width))


def show_drawer(call: Call) -> None:
    drawer = call.client.get(_address(call))

    def render(console: Any) -> None:
        content = harmless(drawer["content"])
        call.screen.streams.stdout.write(content if content.endswith("\n") else content + "\n")

    call.screen.show(drawer, render)


def create_drawer(call: Call) -> None:
    path = to_create(call.args.drawer, 3, least=2)
    body = {"content": _content(call), "name": path.drawer, "requested_by": "cli"}
    if call.args.valid_from is not None:
        body["valid_from"] = call.args.valid_from
    drawer = call.client.post(route("wings", path.wing, "rooms", path.room or "", "drawers"), body)
    title = f"{path.wing}/{path.room}/{drawer['name'] or drawer['id']}"
    call.screen.show(drawer, lambda console: print_created(console, "drawer", title, drawer))


def supersede_drawer(call: Call) -> None:
    """Always prints JSON: the ended drawer and its replacement."""
    wishes = {"content": call.args.content, "tags": call.args.tag, "valid_from": call.args.valid_from}
    body = {"requested_by": "cli"} | {name: wish for name, wish in wishes.items() if wish is not None}
    call.screen.json(call.client.post(route("drawers", call.args.drawer, "supersede"), body))


def show_history(call: Call) -> None:
    found = call.client.get(route("drawers", call.args.drawer, "history"))
    call.screen.show(found, lambda console: render_history(console, found))


def render_history(console: Any, found: Mapping[str, Any]) -> None:
    """Each version with its stretch of time and its text; the one asked about is marked."""
    from rich.text import Text

    for number, version in enumerate(found["versions"], 1):
        until = moment(version["valid_to"]) if version["valid_to"] else "now"
        mark = "  (asked about)" if version["id"] == found["drawer"] else ""
        console.print(
            Text.assemble(
                (f"{number}. {moment(version['valid_from'])} to {until}", "bold"), (f"  {version['id']}{mark}", "dim")
            ),
            soft_wrap=True,
        )
        for line in harmless(version["content"]).splitlines():
            console.print(Text(f"   {line}"), soft_wrap=True)


def delete_drawer(call: Call) -> None:
    address = _address(call)

    def question() -> str:
        size = counted(len(call.client.get(address)["content"]), "character")
        return f"Delete the drawer {call.args.drawer!r} ({size})?"

    confirm(call.screen, question, yes=call.args.yes)
    deleted = call.client.delete(address)
    call.screen.show(deleted, lambda console: print_deleted(console, deleted))


def _address(call: Call) -> str:
    path = existing(call.args.drawer, 3)
    return route("wings", path.wing, "rooms", path.room or "", "drawers", *(path.drawer or "").split("/"))


def _content(call: Call) -> str:
    """The text to store, byte for byte. Raises FileFailed, or InvalidInput when it is not UTF-8."""
    if call.args.content is not None:
        return str(call.args.content)
    return given_text(call.screen, call.args.file, "content")
