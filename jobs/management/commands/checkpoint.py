"""`checkpoint`: files texts that were sorted already."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.given import given_text
from memcastle_site.console.jobs import Job
from memcastle_site.console.text import counted
from memcastle_site.console.waiting import add_detach, submit_and_wait
from palace.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console


class Command(ConsoleCommand):
    help = "File the items of a payload (JSON), and wait until all of them are stored."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--payload", metavar="FILE", help="a JSON file; without it, or with -, stdin is read")
        parser.add_argument("--emergency", action="store_true", help="before all other jobs")
        add_detach(parser)

    def run(self, call: Call) -> int | None:
        payload = parsed(given_text(call.screen, call.args.payload, "payload"))
        request = {"type": "checkpoint", "payload": payload, "emergency": call.args.emergency}
        return submit_and_wait(call, request, unit="items", render=render_filed)


def parsed(text: str) -> Any:
    """The JSON value of a payload; its shape is the daemon's to judge. Raises InvalidInput on `payload`."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        raise InvalidInput("payload", "it is nested too deeply") from None
    except ValueError as error:
        raise InvalidInput("payload", f"it is no JSON text ({error})") from None
    return value


def render_filed(console: Console, job: Job) -> None:
    """What became of the items."""
    result = job.get("result") or {}
    items, duplicates = int(result.get("items") or 0), int(result.get("duplicates") or 0)
    console.print(f"checkpoint of {counted(items, 'item')}: {counted(items - duplicates, 'drawer')} stored")
    if duplicates:
        console.print(f"  {counted(duplicates, 'item')} not stored again, since the room holds the same text already")
