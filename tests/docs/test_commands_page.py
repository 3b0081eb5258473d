"""docs/cli.md tells of every command with its actions and options; nothing names a command that does not exist."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.management import get_commands, load_command_class

from memcastle_site.console.command import ConsoleCommand
from memcastle_site.console.parser import GLOBAL_SWITCHES, GLOBAL_VALUES
from tests.docs.pages import ROOT, headings, page, pages, rows, section, sources, spans, words_in_code

PAGE = page("cli.md")
GLOBAL = {"-h", "--help", *GLOBAL_SWITCHES, *GLOBAL_VALUES}
_GLOBALS = r"(?:(?:--json|-v+|--(?:config|palace|mode)[ =]\S+) )*"
_NAMED = re.compile(rf"manage\.py {_GLOBALS}([a-z][a-z-]*)(?: ([a-z][a-z-]*)\b(?![/.=]))?")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of every command of ours, aliases included."""
    ours = {config.name for config in apps.get_app_configs() if not config.name.startswith("django.")}
    found = {}
    for name, app in get_commands().items():
        if app in ours:
            command = load_command_class(app, name)
            assert isinstance(command, ConsoleCommand), name
            found[name] = command.create_parser("manage.py", name)
    return found


def actions(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of a command's actions; empty when it has none."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def options(parser: argparse.ArgumentParser) -> set[str]:
    return {spelling for action in parser._actions for spelling in action.option_strings} - GLOBAL


PARSERS = parsers()
COMMANDS = {name: parser for name, parser in PARSERS.items() if name.rstrip("s") not in PARSERS.keys() - {name}}
ALIASES = PARSERS.keys() - COMMANDS.keys()


def described(name: str, action: str | None) -> str:
    """The part of the page where an option of the command must be named: its action's row, else its section."""
    text = section(PAGE, name)
    if action is None:
        return text
    (row,) = [row for row in rows(text) if row[0].startswith(f"`{name} {action}")]
    return " ".join(row)


def every_parser() -> Iterator[tuple[str, str | None, argparse.ArgumentParser]]:
    for name, parser in COMMANDS.items():
        found = actions(parser)
        yield from ((name, action, child) for action, child in found.items())
        if not found:
            yield name, None, parser


@pytest.mark.parametrize(
    ("name", "action", "parser"), list(every_parser()), ids=lambda part: part if isinstance(part, str) else ""
)
def test_every_option_is_described_where_it_belongs(name: str, action: str | None, parser: argparse.ArgumentParser) -> None:
    assert options(parser) <= words_in_code(described(name, action))


def test_every_command_has_a_section_and_every_section_a_command() -> None:
    sections = {heading for heading in headings(PAGE) if heading == heading.lower()}
    assert sections == COMMANDS.keys()
    assert words_in_code(PAGE) >= ALIASES


def test_the_global_options_are_described() -> None:
    assert words_in_code(section(PAGE, "Global options")) >= GLOBAL - {"-vv"}


def test_every_action_that_the_page_lists_exists() -> None:
    for name, parser in COMMANDS.items():
        for row in rows(section(PAGE, name)):
            listed = re.match(rf"`{name} ([\w-]+)", row[0])
            assert listed is None or listed[1] in actions(parser), row[0]


def problem_with(text: str) -> str | None:
    """The first command or action in the text that does not exist."""
    for found in _NAMED.finditer(text):
        name, action = found.groups()
        if name not in PARSERS:
            return found[0]
        known = actions(PARSERS[name])
        if known and action is not None and action not in known:
            return found[0]
    return None


def test_no_page_names_a_command_that_does_not_exist() -> None:
    grouped = "|".join(name for name, parser in PARSERS.items() if actions(parser))
    for name, text in pages().items():
        assert problem_with(text) is None, name
        for span in spans(text):
            if named := re.match(rf"({grouped}) ([a-z][a-z-]*)\b(?![/.=])", span):
                assert named[2] in actions(PARSERS[named[1]]), f"{name}: {span}"


def test_no_page_names_an_option_that_no_command_has() -> None:
    known = GLOBAL | {"--version"}
    for _, _, parser in every_parser():
        known |= options(parser)
    for name, text in pages().items():
        assert set(_FLAG.findall(text)) <= known, name


def test_the_program_itself_names_only_commands_and_pages_that_exist() -> None:
    texts = [*sources(), *((file, file.read_text()) for file in (ROOT / "templates").rglob("*.html"))]
    for file, text in texts:
        assert problem_with(text) is None, file
        for named in re.findall(r"\bdocs/([a-z]+\.md)\b", text):
            assert (ROOT / "docs" / named).is_file(), file
