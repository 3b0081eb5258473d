"""`repair`: says what damage it would remove, and removes it when told to."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.jobs import Job
from memcastle_site.console.paths import job_id
from memcastle_site.console.prompts import confirm
from memcastle_site.console.text import counted, harmless_line, moment
from memcastle_site.console.waiting import add_detach, submit_and_wait

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_ACTIONS = 20


class Command(ConsoleCommand):
    help = "Find drawers whose room is gone, and with --apply delete them."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--apply", action="store_true", help="delete what is found; without it nothing is changed")
        parser.add_argument(
            "--based-on-job", "--based-on", metavar="ID", help="id of a completed audit; only what it found is looked at"
        )
        parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
        add_detach(parser)

    def run(self, call: Call) -> int | None:
        audit = None if call.args.based_on_job is None else job_id(call.args.based_on_job)
        if call.args.apply:
            confirm(call.screen, lambda: _question(call, audit), yes=call.args.yes)
        request = {"type": "repair", "dry_run": not call.args.apply, "based_on_job": audit}
        return submit_and_wait(call, request, unit="drawers", render=render_repaired)


def _question(call: Call, audit: str | None) -> str:
    if audit is None:
        return "Delete every drawer whose room is gone? (A repair without --apply lists them.)"
    found = (call.client.get(route("jobs", audit)).get("result") or {}).get("orphan_drawers") or []
    drawers = counted(len(found), "drawer without a room", "drawers without a room")
    return f"Delete what is left of the {drawers} that the audit {audit} found?"


def render_repaired(console: Console, job: Job) -> None:
    """What was deleted, or would be."""
    from rich.text import Text

    report = job.get("result") or {}
    actions = report.get("actions") or []
    dry = bool(report.get("dry_run"))
    found = counted(len(actions), "drawer whose room is gone", "drawers whose room is gone")
    verdict = "nothing to repair" if not actions else f"{'would delete' if dry else 'deleted'} {found}"
    style = "green" if not actions else "yellow" if dry else ""
    console.print(
        Text.assemble(
            ("dry run of a repair" if dry else "repair", "bold"),
            harmless_line(f", {moment(report.get('generated_at'))}: "),
            (verdict, style),
        ),
        soft_wrap=True,
    )
    for action in actions[:SHOWN_ACTIONS]:
        console.print(Text(harmless_line(f"  drawer {action['drawer_id']} room {action['room']}")), soft_wrap=True)
    if len(actions) > SHOWN_ACTIONS:
        console.print(f"  … and {len(actions) - SHOWN_ACTIONS} more (--json shows all)")
    if actions and dry:
        console.print(Text("Nothing was changed. Delete them with: python manage.py repair --apply", "dim"), soft_wrap=True)
