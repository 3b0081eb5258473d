"""`migrate`: brings the palace's schema and data up to date without a daemon. Takes the place of Django's own."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.errors import MigrationPending
from palace.configuration import install


class Command(ConsoleCommand):
    help = "Bring the palace up to date. A running daemon has done so at its start and holds the palace."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        asking = parser.add_mutually_exclusive_group()
        asking.add_argument("--check", action="store_true", help="change nothing; exit 1 when steps are pending")
        asking.add_argument("--status", action="store_true", help="change nothing; show where the palace stands")

    def run(self, call: Call) -> None:
        install(call.loaded.sections)
        only_look = call.args.check or call.args.status
        report = asyncio.run(_report() if only_look else _migrate())
        call.screen.show(report, lambda console: console.print(_text(report)))
        if call.args.check and report["pending"]:
            names = ", ".join(report["pending"])
            raise MigrationPending(f"{len(report['pending'])} step(s) pending: {names}")


async def _report() -> dict[str, Any]:
    from memcastle_site.daemon.palace import open_palace
    from palace.store.migrations import migration_status

    store = await open_palace()
    try:
        return (await migration_status(store)).as_json()
    finally:
        await store.close()


async def _migrate() -> dict[str, Any]:
    from memcastle_site import __version__
    from memcastle_site.daemon.palace import open_palace
    from memcastle_site.schema_files import definitions
    from palace.store.migrations import migrate

    store = await open_palace()
    try:
        # Whoever runs this by hand has brought every daemon up to date, so nothing needs what is in no file any more.
        return (await migrate(store, definitions(), release=__version__, remove=True)).as_json()
    finally:
        await store.close()


def _text(report: dict[str, Any]) -> str:
    if "applied" in report:
        applied = ", ".join(report["applied"]) or "none"
        return f"data version {report['from_version']} -> {report['to_version']}; steps applied: {applied}"
    pending = ", ".join(report["pending"]) or "none"
    return f"data version {report['current_version']} of {report['latest_version']}; steps pending: {pending}"
