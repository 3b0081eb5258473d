"""The base of every command of `manage.py`.

A command declares its arguments and implements `run`; parsing, output, errors and exit codes are the base's. Exit
codes: what `run` returns (0 when it returns nothing), 1 for a MemCastleError, 2 for words that do not fit the command, 130 for
Ctrl-C, 141 when the reader of a pipe went away.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from django.core.management.base import BaseCommand, CommandError

from memcastle_site.console.output import Screen, Streams, unsupported_characters_as_escapes
from memcastle_site.console.parser import GlobalFlags, Parser
from memcastle_site.errors import CommandUsage
from palace.domain.modes import MemoryMode
from palace.errors import MemCastleError
from palace.modes import parse_mode

if TYPE_CHECKING:
    from memcastle_site.conf import Loaded
    from memcastle_site.console.client import DaemonClient

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


class Call:
    """One run of a command: its arguments, its screen, the configuration and the client, both made when first used."""

    def __init__(self, args: argparse.Namespace, screen: Screen, environ: Mapping[str, str]) -> None:
        self.args = args
        self.screen = screen
        self.environ = environ
        self.flags = GlobalFlags.of(args)

    @cached_property
    def loaded(self) -> Loaded:
        """The configuration of this command: file, environment, flags. Raises ConfigInvalid or FileFailed."""
        return self.load({})

    def load(self, flags: Mapping[str, object]) -> Loaded:
        """The configuration with more flags (keyed like `server.port`) than the global ones."""
        from memcastle_site import conf

        merged = {"config": self.flags.config, "palace.path": self.flags.palace, **flags}
        return conf.load({key: value for key, value in merged.items() if value is not None}, self.environ)

    @cached_property
    def mode(self) -> MemoryMode | None:
        """The memory mode to send, None when neither the flag nor the environment names one. Raises InvalidInput."""
        if self.flags.mode is not None:
            return parse_mode(self.flags.mode, "--mode")
        named = self.environ.get("MEMCASTLE_MODE")
        return None if named is None else parse_mode(named, "MEMCASTLE_MODE")

    @cached_property
    def client(self) -> DaemonClient:
        """The client of the daemon of the resolved palace; no request has been made yet."""
        return self.connect()

    def connect(self) -> DaemonClient:
        """A new client, at the address where the daemon is found now: a restarted one may have moved."""
        from memcastle_site.console.discovery import connect

        return connect(self.loaded, self.mode)


class ConsoleCommand(BaseCommand):
    """A command of MemCastle. Subclasses set `help`, declare arguments in `add_arguments` and implement `run`.

    A command with subcommands declares them with `console.parser.subcommands` and needs no `run` of its own.
    """

    requires_system_checks = ()

    def run(self, call: Call) -> int | None:
        """Does what the arguments say; returns the exit code, None for 0. Raises MemCastleError for a failure."""
        code: int | None = call.args.run(call)
        return code

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Parser:  # type: ignore[override]
        parser = Parser(prog=f"{os.path.basename(prog_name) or 'manage.py'} {subcommand}", description=self.help, **kwargs)
        self.add_arguments(parser)  # type: ignore[arg-type]
        return parser

    def run_from_argv(self, argv: list[str]) -> NoReturn:
        """The way in from the shell; ends the process with the exit code."""
        streams = Streams.of_process()
        for stream in (streams.stdout, streams.stderr):
            unsupported_characters_as_escapes(stream)
        sys.exit(self.invoke(argv[2:], streams, os.environ, prog=(argv[0], argv[1])))

    def execute(self, *args: Any, **options: Any) -> None:
        """The way in of Django's `call_command`. Raises CommandError when the exit code is not 0."""
        streams = Streams(sys.stdin, options.pop("stdout", None) or sys.stdout, options.pop("stderr", None) or sys.stderr)
        code = self._guarded(argparse.Namespace(**options), streams, os.environ)
        if code:
            raise CommandError(f"exit code {code}", returncode=code)

    def invoke(
        self,
        words: Sequence[str],
        streams: Streams,
        environ: Mapping[str, str],
        *,
        prog: tuple[str, str] | None = None,
    ) -> int:
        """Parses the words, runs the command on these streams and returns the exit code."""
        name = prog or ("manage.py", type(self).__module__.rpartition(".")[2])
        try:
            args = self.create_parser(*name).parse_args(words)
        except CommandUsage as error:
            Screen(streams, environ).diagnose(error)
            return EXIT_USAGE
        return self._guarded(args, streams, environ)

    def _guarded(self, args: argparse.Namespace, streams: Streams, environ: Mapping[str, str]) -> int:
        flags = GlobalFlags.of(args)
        screen = Screen(streams, environ, as_json=flags.json, verbosity=flags.verbose)
        self._log_to(streams, flags.verbose)
        try:
            code = self.run(Call(args, screen, environ)) or 0
            streams.stdout.flush()
            return code
        except CommandUsage as error:
            screen.diagnose(error)
            return EXIT_USAGE
        except MemCastleError as error:
            screen.diagnose(error)
            return EXIT_FAILURE
        except KeyboardInterrupt:
            screen.note("interrupted")
            return EXIT_INTERRUPTED
        except BrokenPipeError:
            _forget(streams)
            return EXIT_BROKEN_PIPE

    def _log_to(self, streams: Streams, verbosity: int) -> None:
        """With -v the commands tell what they do. A command that configures logging itself overrides this."""
        if verbosity:
            logging.basicConfig(stream=streams.stderr, format="%(levelname)s %(name)s: %(message)s", level=logging.WARNING)
            logging.getLogger("memcastle").setLevel(logging.DEBUG)


def _forget(streams: Streams) -> None:
    """Points stdout at nothing, so that the interpreter's last flush does not fail again."""
    if streams.stdout is sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
