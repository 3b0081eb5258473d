"""The flags that every command takes, wherever they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcastle_site.console.parser import split_leading_flags
from palace.management.commands.room import Command as Room
from palace.management.commands.wing import Command as Wing
from search.management.commands.search import Command as Search
from tests.console.support import FakeDaemon, Shell


@pytest.fixture(autouse=True)
def answers(daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings", [])
    daemon.on("GET /api/search", [])


@pytest.mark.parametrize(
    "words", [["--mode", "read_only", "list"], ["list", "--mode", "read_only"], ["list", "--mode=read_only"]]
)
def test_flags_stand_before_or_after_the_subcommand(shell: Shell, daemon: FakeDaemon, words: list[str]) -> None:
    assert shell.run(Wing, *words).code == 0
    assert daemon.requests[0].headers["X-MemCastle-Mode"] == "read_only"


def test_a_flag_before_the_subcommand_survives_the_subcommands_own_flags(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings/x/rooms", [])
    shell.environ["NO_COLOR"] = "1"
    assert shell.run(Room, "--json", "list", "--wing", "x", terminal=True).json == []


def test_the_mode_comes_from_the_environment_unless_a_flag_says_otherwise(shell: Shell, daemon: FakeDaemon) -> None:
    shell.environ["MEMCASTLE_MODE"] = "disabled"
    shell.run(Wing, "list")
    shell.run(Wing, "list", "--mode", "full")
    assert [request.headers["X-MemCastle-Mode"] for request in daemon.requests] == ["disabled", "full"]


@pytest.mark.parametrize("value", ["readonly", "FULL", ""])
def test_a_bad_mode_in_the_environment_is_refused_here(shell: Shell, daemon: FakeDaemon, value: str) -> None:
    shell.environ["MEMCASTLE_MODE"] = value
    outcome = shell.run(Wing, "list")
    assert outcome.code == 1
    assert "MEMCASTLE_MODE" in outcome.err
    assert "read_only" in outcome.err
    assert daemon.requests == []


def test_a_named_configuration_file_must_exist(shell: Shell, home: Path) -> None:
    outcome = shell.run(Wing, "list", "--config", str(home / "none.toml"))
    assert outcome.code == 1
    assert "memcastle::io::failed" in outcome.err


def test_a_configuration_file_is_read(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    file = home / "some.toml"
    file.write_text('[auth]\ntoken = "0123456789abcdef"\n')
    assert shell.run(Wing, "--config", str(file), "list").code == 0
    assert daemon.requests[0].headers["Authorization"] == "Bearer 0123456789abcdef"


def test_the_token_of_the_environment_wins(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    file = home / "some.toml"
    file.write_text('[auth]\ntoken = "0123456789abcdef"\n')
    shell.environ["MEMCASTLE_AUTH_TOKEN"] = "fedcba9876543210"
    shell.run(Wing, "--config", str(file), "list")
    assert daemon.requests[0].headers["Authorization"] == "Bearer fedcba9876543210"


def test_a_relative_palace_is_refused(shell: Shell) -> None:
    outcome = shell.run(Wing, "list", "--palace", "here")
    assert outcome.code == 1
    assert "--palace" in outcome.err


def test_words_of_a_query_may_stand_around_flags_and_begin_with_a_dash(shell: Shell, daemon: FakeDaemon) -> None:
    shell.run(Search, "two", "--limit", "3", "words", "-v")
    shell.run(Search, "--limit", "3", "--", "-home-me-app", "--json")
    assert [request.query["q"] for request in daemon.requests] == [["two words"], ["-home-me-app --json"]]


@pytest.mark.parametrize(
    ("words", "flags", "rest"),
    [
        (["--json", "search", "x"], ["--json"], ["search", "x"]),
        (["-vv", "--palace", "/p", "--mode=full", "job", "list"], ["-vv", "--palace", "/p", "--mode=full"], ["job", "list"]),
        (["search", "--json"], [], ["search", "--json"]),
        (["--config"], ["--config"], []),
        (["--version"], [], ["--version"]),
    ],
)
def test_flags_before_the_command_are_found(words: list[str], flags: list[str], rest: list[str]) -> None:
    assert split_leading_flags(words) == (flags, rest)
