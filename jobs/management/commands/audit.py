"""`audit`: looks for damage in the palace and reports it; changes nothing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.jobs import Job
from memcastle_site.console.text import counted, harmless_line, moment
from memcastle_site.console.waiting import add_detach, submit_and_wait

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_FINDINGS = 20


class Command(ConsoleCommand):
    help = "Check the palace for orphans and dangling references, and print the report."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--wing", metavar="WING", help="count drawers of this wing only; damage is looked for everywhere")
        add_detach(parser)

    def run(self, call: Call) -> int | None:
        return submit_and_wait(call, {"type": "audit", "wing": call.args.wing}, unit="drawers", render=render_report)


def render_report(console: Console, job: Job) -> None:
    """The report of a completed audit: a verdict, the counts, the first findings of each kind."""
    from rich.text import Text

    report = job.get("result") or {}
    findings = [
        ("orphan_drawers", "drawer whose room is gone", "drawers whose room is gone"),
        ("dangling_provenance_drawers", "drawer of a job that is gone", "drawers of jobs that are gone"),
    ]
    damage = sum(len(report.get(key) or []) for key, _, _ in findings)
    verdict = Text("no damage found", "green") if not damage else Text(counted(damage, "finding"), "red")
    scope = f"the wing {report['wing']}" if report.get("wing") else "the whole palace"
    console.print(
        Text.assemble(("audit ", "bold"), harmless_line(f"of {scope}, {moment(report.get('generated_at'))}: "), verdict)
    )
    for key, singular, plural in findings:
        found = report.get(key) or []
        if found:
            console.print(Text(f"  {counted(len(found), singular, plural)}:"))
        for finding in found[:SHOWN_FINDINGS]:
            console.print(Text("    " + " ".join(f"{name} {value}" for name, value in finding.items())), soft_wrap=True)
        if len(found) > SHOWN_FINDINGS:
            console.print(f"    … and {len(found) - SHOWN_FINDINGS} more (--json shows all)")
    for key, name in (
        ("total_drawers_in_scope", "drawers in scope"),
        ("drawers_without_embedding", "without an embedding"),
        ("stuck_failed_jobs", "failed jobs that used up their crash budget"),
        ("running_jobs", "other jobs running"),
    ):
        if report.get(key) is not None:
            value = report[key]
            console.print(f"  {name}: {len(value) if isinstance(value, list) else value}")
