"""`wing`: the wings of the palace."""

from __future__ import annotations

import argparse
from typing import Any

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.hierarchy import print_created, print_deleted, print_facts, print_rooms, print_wings
from memcastle_site.console.parser import subcommands
from memcastle_site.console.paths import existing, to_create
from memcastle_site.console.prompts import confirm
from memcastle_site.console.text import counted


class Command(ConsoleCommand):
    help = "List, show, create and delete wings."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = subcommands(parser)
        add("list", "list all wings with their counts", list_wings)
        add("show", "show a wing and its rooms", show_wing).add_argument("wing", metavar="WING", help="name or id")
        create = add("create", "create a wing; an existing one is left as it is", create_wing)
        create.add_argument("wing", metavar="WING", help="name of the new wing")
        create.add_argument("--description", metavar="TEXT")
        delete = add("delete", "delete a wing with all its rooms and drawers", delete_wing)
        delete.add_argument("wing", metavar="WING", help="name or id")
        delete.add_argument("-y", "--yes", action="store_true", help="do not ask")


def list_wings(call: Call) -> None:
    wings = call.client.get(route("wings"))
    call.screen.show(wings, lambda console: print_wings(console, wings))


def show_wing(call: Call) -> None:
    found = call.client.get(_address(call))

    def render(console: Any) -> None:
        wing = found["wing"]
        counts = f"{counted(wing['rooms'], 'room')}, {counted(wing['drawers'], 'drawer')}"
        print_facts(console, "wing", wing["name"], wing, counts)
        if found["rooms"]:
            console.print()
            print_rooms(console, found["rooms"])

    call.screen.show(found, render)


def create_wing(call: Call) -> None:
    path = to_create(call.args.wing, 1)
    wing = call.client.post(route("wings"), {"name": path.wing, "description": call.args.description})
    call.screen.show(wing, lambda console: print_created(console, "wing", wing["name"], wing))


def delete_wing(call: Call) -> None:
    address = _address(call)

    def question() -> str:
        wing = call.client.get(address)["wing"]
        counts = f"{counted(wing['rooms'], 'room')} and {counted(wing['drawers'], 'drawer')}"
        return f"Delete the wing {wing['name']!r} with {counts}?"

    confirm(call.screen, question, yes=call.args.yes)
    deleted = call.client.delete(address)
    call.screen.show(deleted, lambda console: print_deleted(console, deleted))


def _address(call: Call) -> str:
    return route("wings", existing(call.args.wing, 1).wing)
