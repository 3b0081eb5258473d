"""The front of `manage.py`: finds the command, and sets Django up no further than a command needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from django.apps import apps
from django.conf import settings
from django.core.management import execute_from_command_line, get_commands, load_command_class

from memcastle_site import __version__
from memcastle_site.console.command import EXIT_USAGE, ConsoleCommand
from memcastle_site.console.output import Screen, Streams
from memcastle_site.console.parser import split_leading_flags
from memcastle_site.errors import CommandUsage

OVERVIEW = """usage: manage.py [global options] COMMAND ...

MemCastle {version}: a long-running memory server for AI coding agents.

commands:
{commands}

`manage.py COMMAND --help` shows the arguments of a command and the global options.
"""


def main(argv: Sequence[str]) -> int:
    """Runs one command line. Returns the exit code, unless the command ends the process itself."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcastle_site.settings")
    flags, words = split_leading_flags(argv[1:])
    if not words:
        sys.stderr.write(_overview())
        return EXIT_USAGE
    name, *rest = words
    if name == "--version":
        print(f"memcastle {__version__}")
        return 0
    if name in ("--help", "-h", "help"):
        sys.stdout.write(_overview())
        return 0
    app = _commands().get(name)
    if app is None:
        _screen().diagnose(_unknown(name))
        return EXIT_USAGE
    command = load_command_class(app, name) if app in _our_apps() else None
    if isinstance(command, ConsoleCommand):
        command.run_from_argv([argv[0], name, *flags, *rest])
    execute_from_command_line([argv[0], name, *flags, *rest])
    return 0


def _commands() -> dict[str, str]:
    # Unlike django.setup() this leaves URL resolving, and with it the request and model machinery, unimported: half of
    # a client command's time. A command that serves requests sets up the rest itself.
    apps.populate(settings.INSTALLED_APPS)
    commands: dict[str, str] = get_commands()
    return commands


def _our_apps() -> set[str]:
    return {app for app in settings.INSTALLED_APPS if not app.startswith("django.")}


def _overview() -> str:
    ours = _our_apps()
    lines = []
    for name, app in sorted(_commands().items()):
        if app in ours:
            command = load_command_class(app, name)
            # An alias is the same class under a second name.
            if type(command).__module__.rpartition(".")[2] == name:
                lines.append(f"  {name:<10} {command.help}")
    return OVERVIEW.format(version=__version__, commands="\n".join(lines))


def _unknown(name: str) -> CommandUsage:
    import difflib

    close = difflib.get_close_matches(name, [known for known, app in _commands().items() if app in _our_apps()], n=1)
    hint = f"Did you mean {close[0]}? " if close else ""
    return CommandUsage(f"there is no command {name!r}", help=f"{hint}Run manage.py --help to see all commands.")


def _screen() -> Screen:
    return Screen(Streams.of_process(), os.environ)
