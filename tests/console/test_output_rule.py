"""Text on a terminal, JSON in a pipe; colour as the environment asks."""

from __future__ import annotations

import json

import pytest

from memcastle_site.console.output import Screen, Streams, colour_wanted
from palace.errors import SerializationFailed
from palace.management.commands.wing import Command as Wing
from tests.console.support import FakeDaemon, Pipe, Shell, Terminal

WINGS = [
    {"id": "i", "name": "dja\x1bngo", "description": None, "created_at": "2026-03-01T12:00:00Z", "rooms": 2, "drawers": 1200}
]


@pytest.fixture(autouse=True)
def wings(daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings", WINGS)


def test_a_pipe_gets_indented_json(shell: Shell) -> None:
    outcome = shell.run(Wing, "list")
    assert outcome.json == WINGS
    assert outcome.out.startswith("[\n  {")


@pytest.mark.parametrize("environ", [{}, {"FORCE_COLOR": "1"}])
@pytest.mark.parametrize("words", [["list"], ["list", "--json"]])
def test_a_pipe_never_gets_an_escape_code(shell: Shell, environ: dict[str, str], words: list[str]) -> None:
    shell.environ |= environ
    assert "\x1b" not in shell.run(Wing, *words).out


def test_a_terminal_gets_text_with_stored_control_characters_spelled_out(shell: Shell) -> None:
    shell.environ["NO_COLOR"] = ""
    outcome = shell.run(Wing, "list", terminal=True)
    assert "dja\\x1bngo" in outcome.out
    assert "1,200" in outcome.out
    assert "\x1b" not in outcome.out


def test_json_on_a_terminal_is_coloured_and_still_json(shell: Shell) -> None:
    coloured = shell.run(Wing, "list", "--json", terminal=True).out
    shell.environ["NO_COLOR"] = "1"
    plain = shell.run(Wing, "list", "--json", terminal=True).out
    assert "\x1b[" in coloured
    assert json.loads(plain) == WINGS


@pytest.mark.parametrize(
    ("environ", "terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colour_rule(environ: dict[str, str], terminal: bool, wanted: bool) -> None:
    assert colour_wanted(environ, terminal) is wanted


def test_diagnostics_are_coloured_only_where_wanted(shell: Shell) -> None:
    assert "\x1b" not in shell.run(Wing, "create", "a/b").err
    assert "\x1b[1;31merror:" in shell.run(Wing, "create", "a/b", terminal=True).err
    shell.environ["FORCE_COLOR"] = "1"
    assert "\x1b[1;31merror:" in shell.run(Wing, "create", "a/b").err


def test_a_value_that_is_no_json_is_an_error_and_no_empty_line() -> None:
    out = Pipe()
    with pytest.raises(SerializationFailed):
        Screen(Streams(Pipe(), out, Pipe()), {}).json(float("nan"))
    assert out.getvalue() == ""


def test_a_stream_without_unicode_gets_ascii_json() -> None:
    class Latin(Pipe):
        encoding = "iso-8859-1"

    out = Latin()
    Screen(Streams(Pipe(), out, Pipe()), {}).json("图")
    assert out.getvalue() == '"\\u56fe"\n'


def test_only_two_terminals_make_a_conversation() -> None:
    for stdin, stderr, interactive in ((Terminal, Terminal, True), (Pipe, Terminal, False), (Terminal, Pipe, False)):
        assert Screen(Streams(stdin(), Pipe(), stderr()), {}).interactive is interactive
