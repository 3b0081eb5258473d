"""Exit codes and diagnostics of every kind of end."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.parser import subcommands
from palace.errors import FileFailed
from palace.management.commands.wing import Command as Wing
from tests.console.support import FakeDaemon, Shell, error_body


class Example(ConsoleCommand):
    """Ends as its argument says."""

    help = "An example."

    def add_arguments(self, parser):  # type: ignore[no-untyped-def]
        add = subcommands(parser)
        for name, run in (("fine", _fine), ("degraded", _degraded), ("fails", _fails), ("stopped", _stopped), ("cut", _cut)):
            add(name, name, run)


def _fine(call: Call) -> None:
    call.screen.write("fine")


def _degraded(call: Call) -> int:
    return 3


def _fails(call: Call) -> None:
    try:
        raise OSError("disk on \x1b fire")
    except OSError as error:
        raise FileFailed("cannot read \x1b[2J") from error


def _stopped(call: Call) -> None:
    raise KeyboardInterrupt


def _cut(call: Call) -> None:
    raise BrokenPipeError


@pytest.mark.parametrize(("word", "code"), [("fine", 0), ("degraded", 3), ("fails", 1), ("stopped", 130), ("cut", 141)])
def test_code_of_each_end(shell: Shell, word: str, code: int) -> None:
    assert shell.run(Example, word).code == code


def test_a_broken_pipe_says_nothing(shell: Shell) -> None:
    outcome = shell.run(Example, "cut")
    assert (outcome.out, outcome.err) == ("", "")


def test_a_diagnostic_has_message_code_and_help_and_no_control_characters(shell: Shell) -> None:
    err = shell.run(Example, "fails").err
    assert err.splitlines()[0] == "error: cannot read \\x1b[2J"
    assert "  code: memcastle::io::failed" in err
    assert f"  help: {FileFailed.help}" in err
    assert "caused by" not in err


def test_verbose_shows_the_chain_of_causes(shell: Shell) -> None:
    assert "caused by: OSError: disk on \\x1b fire" in shell.run(Example, "fails", "-v").err


@pytest.mark.parametrize(
    "words", [[], ["nonsense"], ["fine", "--unknown"], ["fine", "extra"], ["fine", "--mode", "readonly"], ["fine", "--js"]]
)
def test_usage_errors_exit_with_two_and_a_diagnostic(shell: Shell, words: list[str]) -> None:
    outcome = shell.run(Example, *words)
    assert outcome.code == 2
    assert "memcastle::cli::usage" in outcome.err
    assert "--help" in outcome.err
    assert outcome.out == ""


def test_a_refusal_of_the_daemon_is_exit_code_one(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings/x", (404, error_body("memcastle::palace::wing_not_found", "no wing 'x'")))
    outcome = shell.run(Wing, "show", "x")
    assert outcome.code == 1
    assert "HTTP 404" in outcome.err
    assert "memcastle::palace::wing_not_found" in outcome.err
    assert "memcastle::client::remote_rejected" in outcome.err
    assert "Do something else." in outcome.err


def test_a_bad_configuration_is_exit_code_one(shell: Shell) -> None:
    shell.environ["MEMCASTLE_PORT"] = "70000"
    outcome = shell.run(Wing, "list")
    assert outcome.code == 1
    assert "MEMCASTLE_PORT" in outcome.err


def test_help_prints_the_arguments_without_djangos_options(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        shell.run(Wing, "create", "--help")
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert "--description" in text
    assert "--palace" in text
    assert "--settings" not in text
    assert "--verbosity" not in text


def test_djangos_call_command_reaches_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    call_command(Example(), "fine")
    assert capsys.readouterr().out == "fine\n"
    with pytest.raises(CommandError) as failed:
        call_command(Example(), "degraded")
    assert failed.value.returncode == 3
