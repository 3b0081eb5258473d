"""`daemon`: starts, stops and restarts the daemon in the background."""

from __future__ import annotations

import argparse

from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.lifecycle import Address, restart, start, stop
from memcastle_site.console.parser import subcommands


class Command(ConsoleCommand):
    help = "Start, stop or restart the daemon in the background."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = subcommands(parser)
        for child in (
            add("start", "start the daemon and wait until it serves", start_daemon),
            add("restart", "stop the daemon if one runs, and start it", restart_daemon),
        ):
            child.add_argument("--bind", metavar="IP", help="address to listen on (server.bind)")
            child.add_argument("--port", metavar="PORT", help="port to listen on (server.port)")
        add("stop", "stop the daemon and wait until it is gone", stop_daemon)


def start_daemon(call: Call) -> None:
    call.screen.write(f"started: memcastle is serving on {start(call, _address(call))}")


def restart_daemon(call: Call) -> None:
    call.screen.write(f"restarted: memcastle is serving on {restart(call, _address(call))}")


def stop_daemon(call: Call) -> None:
    answer = stop(call)
    call.screen.show(answer, lambda console: console.print("stopped"))


def _address(call: Call) -> Address:
    return Address(call.args.bind, call.args.port)
