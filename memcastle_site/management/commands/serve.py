"""`serve`: the daemon, in the foreground."""

from __future__ import annotations

import argparse

from memcastle_site.conf import LoggingConfig, ServerConfig
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.output import Streams
from memcastle_site.daemon.sockets import bind
from memcastle_site.logs import configure
from palace.configuration import install


class Command(ConsoleCommand):
    help = "Run the daemon in the foreground until it is asked to stop (Ctrl-C, SIGTERM, `daemon stop`); logs to stderr."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--bind", metavar="IP", help="address to listen on (server.bind)")
        parser.add_argument("--port", metavar="PORT", help="port to listen on (server.port)")

    def run(self, call: Call) -> None:
        loaded = call.load({"server.bind": call.args.bind, "server.port": call.args.port})
        configure(loaded.section(LoggingConfig), call.environ, call.flags.verbose)
        install(loaded.sections)
        server = loaded.section(ServerConfig)
        # Bound before anything else, the costly imports of the daemon included: a taken address fails at once and
        # changes nothing.
        with bind(server.bind, server.port) as listener:
            from memcastle_site.daemon.life import run

            run(loaded, listener)

    def _log_to(self, streams: Streams, verbosity: int) -> None:
        """The daemon's logging is configured in `run`, once the configuration is known."""
