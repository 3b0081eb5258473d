"""`status`: whether the daemon runs and how it is."""

from __future__ import annotations

from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.status import exit_code, render_status, take_status


class Command(ConsoleCommand):
    help = "Show the daemon's state. Exit code 0: healthy, 1: degraded or unknown, 3: not running."

    def run(self, call: Call) -> int:
        report = take_status(call)
        call.screen.show(report, lambda console: render_status(console, report))
        return exit_code(report)
