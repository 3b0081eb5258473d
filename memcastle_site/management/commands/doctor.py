"""`doctor`: looks for what keeps MemCastle from working, without changing anything."""

from __future__ import annotations

from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.doctor import examine, exit_code, render_findings


class Command(ConsoleCommand):
    help = "Check configuration, directories, installation and daemon. Exit code 1 when there is an error."

    def run(self, call: Call) -> int:
        findings = examine(call)
        report = {"findings": [finding.as_json() for finding in findings]}
        call.screen.show(report, lambda console: render_findings(console, findings))
        return exit_code(findings)
