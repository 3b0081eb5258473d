"""`search` on the command line."""

from __future__ import annotations

from typing import Any

import pytest

from search.management.commands.search import Command as Search
from tests.console.support import FakeDaemon, Shell, error_body


def hit(**values: Any) -> dict[str, Any]:
    record = {
        "id": "5f9c2b9e-7d3a-4a35-9d6f-0c1b2a3d4e5f",
        "name": "src/parser.py",
        "content": "first line\nthe parser reads configuration\nlast line",
        "source": {"kind": "file", "uri": None, "agent": None},
        "wing_name": "django",
        "room_name": "src",
        "score": 7.25,
        "valid_to": None,
    }
    return record | values


def test_every_option_becomes_its_parameter(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/search", [])
    shell.run(Search, "a", "b", "--wing", "w", "--room", "r", "--ranking", "lexical", "--tag", "x", "--tag", "y", "--expand")
    shell.run(Search, "a", "--source-kind", "file", "--from", "2026-01-01", "--until", "2026-02-01", "--limit", "0")
    shell.run(Search, "a", "--as-of", "yesterday", "--include-historical")
    assert [request.query for request in daemon.requests] == [
        {"q": ["a b"], "wing": ["w"], "room": ["r"], "ranking": ["lexical"], "tags": ["x,y"], "expand": ["true"]},
        {"q": ["a"], "source_kind": ["file"], "from": ["2026-01-01"], "until": ["2026-02-01"], "limit": ["0"]},
        {"q": ["a"], "as_of": ["yesterday"], "include_historical": ["true"]},
    ]


def test_the_daemon_judges_times(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/search", (400, error_body("memcastle::input::invalid", "as_of: 'yesterday' is not an instant")))
    outcome = shell.run(Search, "a", "--as-of", "yesterday")
    assert outcome.code == 1
    assert "as_of: 'yesterday' is not an instant" in outcome.err


@pytest.mark.parametrize("words", [["a", "--limit", "-1"], ["a", "--tag", "x,y"]])
def test_values_that_cannot_be_sent_are_refused_here(shell: Shell, daemon: FakeDaemon, words: list[str]) -> None:
    assert shell.run(Search, *words).code == 1
    assert daemon.requests == []


@pytest.mark.parametrize("words", [[], ["a", "--limit", "x"], ["a", "--ranking", "best"], ["a", "--source-kind", "mail"]])
def test_words_that_do_not_fit_are_usage_errors(shell: Shell, words: list[str]) -> None:
    assert shell.run(Search, *words).code == 2


def test_a_pipe_gets_whole_hits(shell: Shell, daemon: FakeDaemon) -> None:
    content = "x" * 10_000
    daemon.on("GET /api/search", [hit(content=content)])
    assert shell.run(Search, "x").json[0]["content"] == content


def test_a_terminal_gets_rank_score_place_and_excerpt(shell: Shell, daemon: FakeDaemon) -> None:
    shell.environ["NO_COLOR"] = "1"
    daemon.on("GET /api/search", [hit(), hit(name=None, content="\x1b[2J configuration", valid_to="2026-03-01T12:00:00Z")])
    text = shell.run(Search, "configuration", terminal=True).out
    assert " 1. django/src/src/parser.py  7.250\n" in text
    assert "the parser reads configuration" in text
    assert " 2. django/src/5f9c2b9e-7d3a-4a35-9d6f-0c1b2a3d4e5f" in text
    assert "ended 2026-03-01" in text
    assert "\x1b" not in text


def test_a_hit_without_a_name_says_which_part_of_which_document_it_is(shell: Shell, daemon: FakeDaemon) -> None:
    shell.environ["NO_COLOR"] = "1"
    origin = {"document": "src/a\nb.py", "chunk": 1}
    unnamed = hit(name=None, source={"kind": "file", "uri": None, "agent": None, "origin": origin})
    by_hand = hit(name=None)
    daemon.on("GET /api/search", [unnamed, by_hand])
    text = shell.run(Search, "parser", terminal=True).out
    assert " 1. django/src/5f9c2b9e-7d3a-4a35-9d6f-0c1b2a3d4e5f  src/a\\nb.py, part 2  7.250\n" in text
    assert " 2. django/src/5f9c2b9e-7d3a-4a35-9d6f-0c1b2a3d4e5f  7.250\n" in text


def test_nothing_found_is_no_failure(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/search", [])
    assert shell.run(Search, "x").json == []
    outcome = shell.run(Search, "x", terminal=True)
    assert (outcome.code, "nothing found" in outcome.out) == (0, True)
