"""The argument parser of every command: the global flags on each level, usage problems as errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from memcastle_site.errors import CommandUsage
from palace.domain.modes import MemoryMode

GLOBAL_SWITCHES = ("-v", "-vv", "--verbose", "--json")
GLOBAL_VALUES = ("--config", "--palace", "--mode")


@dataclass(frozen=True, slots=True)
class GlobalFlags:
    """The flags that every command takes, before or after its subcommand."""

    verbose: int = 0
    json: bool = False
    config: str | None = None
    palace: str | None = None
    mode: str | None = None

    @classmethod
    def of(cls, args: argparse.Namespace) -> GlobalFlags:
        given = {name: getattr(args, name) for name in cls.__slots__ if getattr(args, name, None) is not None}
        return cls(**given)


class Parser(argparse.ArgumentParser):
    """Reports problems as CommandUsage, never abbreviates, and takes options between positional words."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)
        self._add_global_flags()

    def _add_global_flags(self) -> None:
        # A default would let the parser of a subcommand overwrite what stood before the subcommand.
        group = self._globals = self.add_argument_group("global options")
        absent = argparse.SUPPRESS
        group.add_argument("--json", action="store_true", default=absent, help="print JSON also on a terminal")
        group.add_argument("--config", metavar="FILE", default=absent, help="configuration file (MEMCASTLE_CONFIG)")
        group.add_argument("--palace", metavar="PATH", default=absent, help="absolute path of the palace directory")
        group.add_argument(
            "--mode",
            choices=[mode.value for mode in MemoryMode],
            default=absent,
            help="memory mode sent with every request (MEMCASTLE_MODE)",
        )
        group.add_argument(
            "-v",
            "--verbose",
            action="count",
            default=absent,
            help="tell more: causes of errors, debug log lines; -vv still more",
        )

    def format_help(self) -> str:
        # What the command itself understands stands before what all of them do.
        self._action_groups.remove(self._globals)
        self._action_groups.append(self._globals)
        return super().format_help()

    def parse_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        if self._subparsers is not None or "--" in words:
            return super().parse_args(words, namespace)
        return self.parse_intermixed_args(words, namespace)

    def error(self, message: str) -> NoReturn:
        raise CommandUsage(message, help=f"Run `python {self.prog} --help` to see its arguments.")


def subcommands(parser: argparse.ArgumentParser) -> Callable[..., argparse.ArgumentParser]:
    """Lets a command have subcommands. The function returned adds one: `add(name, help, run)`.

    `run` is what the command does when the subcommand was chosen; it is found in the parsed arguments as `run`.
    """
    choices = parser.add_subparsers(dest="subcommand", metavar="ACTION", required=True, title="actions")

    def add(name: str, help: str, run: Callable[..., Any]) -> argparse.ArgumentParser:
        child: argparse.ArgumentParser = choices.add_parser(name, help=help, description=help)
        child.set_defaults(run=run)
        return child

    return add


def split_leading_flags(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Global flags that stand before the name of the command, and the rest, which starts with that name."""
    index = 0
    while index < len(words):
        word = words[index]
        if word in GLOBAL_SWITCHES or word.startswith(tuple(f"{flag}=" for flag in GLOBAL_VALUES)):
            index += 1
        elif word in GLOBAL_VALUES:
            index += 2
        else:
            break
    return list(words[:index]), list(words[index:])
