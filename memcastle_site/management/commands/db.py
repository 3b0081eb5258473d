"""`db`: opens the palace's database to other programs, and closes it again."""

from __future__ import annotations

import argparse
from typing import Any

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.database import render_endpoint
from memcastle_site.console.parser import subcommands
from palace.errors import InvalidInput

LARGEST_PORT = 65_535


class Command(ConsoleCommand):
    help = "Open the database of the palace to other programs, close it, show whether it is open."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = subcommands(parser)
        opening = add("start", "open the database endpoint", start)
        opening.add_argument("--bind", metavar="IP", help="address to listen on (db.bind)")
        opening.add_argument("--port", metavar="PORT", type=int, help="port to listen on (db.port); 0 for any free one")
        opening.add_argument("--allow-remote", action="store_true", help="allow an address that other machines reach")
        opening.add_argument(
            "--allow-origin", metavar="ORIGIN", action="append", help="a web page that may connect; may be given several times"
        )
        add("status", "show whether it is open, and how to connect", status)
        add("stop", "close it and every connection", stop)


def start(call: Call) -> None:
    args = call.args
    if args.port is not None and not 0 <= args.port <= LARGEST_PORT:
        raise InvalidInput("--port", f"it must be between 0 and {LARGEST_PORT}")
    given = {
        "bind": args.bind,
        "port": args.port,
        # Not given is no `false`: then the configuration decides.
        "allow_remote": args.allow_remote or None,
        "allowed_origins": args.allow_origin,
    }
    body = {name: value for name, value in given.items() if value is not None}
    _show(call, call.client.post(route("db"), body))


def status(call: Call) -> None:
    _show(call, call.client.get(route("db")))


def stop(call: Call) -> None:
    _show(call, call.client.delete(route("db")))


def _show(call: Call, endpoint: dict[str, Any]) -> None:
    call.screen.show(endpoint, lambda console: render_endpoint(console, endpoint))
