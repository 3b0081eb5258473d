"""Questions before something is destroyed: asked of a person, never of a script."""

from __future__ import annotations

import io

import pytest

from jobs.management.commands.job import Command as Job
from memcastle_site.console.output import Streams
from memcastle_site.management.commands.auth import Command as Auth
from palace.management.commands.drawer import Command as Drawer
from palace.management.commands.room import Command as Room
from palace.management.commands.wing import Command as Wing
from tests.console.support import JOB_ID, FakeDaemon, Shell, Terminal, job

DELETED = {"wings": 1, "rooms": 2, "drawers": 3}


@pytest.fixture(autouse=True)
def answers(daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings/w", {"wing": {"name": "w", "rooms": 2, "drawers": 3}, "rooms": []})
    daemon.on("DELETE /api/wings/w", DELETED)
    daemon.on("GET /api/wings/w/rooms/r", {"name": "r", "wing_name": "w", "drawers": 1})
    daemon.on("DELETE /api/wings/w/rooms/r", DELETED)
    daemon.on("GET /api/wings/w/rooms/r/drawers/d", {"content": "12345"})
    daemon.on("DELETE /api/wings/w/rooms/r/drawers/d", DELETED)
    daemon.on(f"GET /api/jobs/{JOB_ID}", job("running"))
    daemon.on(f"POST /api/jobs/{JOB_ID}/cancel", {"status": "cancel_requested"})
    daemon.on(f"POST /api/jobs/{JOB_ID}/force-cancel", {"status": "force_cancelled"})
    daemon.on("POST /api/auth/token", {"token": "mc_1"})
    daemon.on("DELETE /api/auth/token", {"revoked": True})


ASKING = [
    (Wing, ["delete", "w"], "2 rooms and 3 drawers", "DELETE"),
    (Room, ["delete", "w/r"], "1 drawer", "DELETE"),
    (Drawer, ["delete", "w/r/d"], "5 characters", "DELETE"),
    (Job, ["cancel", JOB_ID], "running demo job", "POST"),
    (Job, ["force-cancel", JOB_ID], "running demo job", "POST"),
    (Auth, ["generate"], "new token", "POST"),
    (Auth, ["revoke"], "Revoke", "DELETE"),
]


@pytest.mark.parametrize(("command", "words", "asked", "method"), ASKING)
def test_no_is_the_default_and_changes_nothing(  # type: ignore[no-untyped-def]
    shell: Shell, daemon: FakeDaemon, command, words, asked, method
) -> None:
    for answer in ("\n", "n\n", "what\n"):
        outcome = shell.run(command, *words, terminal=True, stdin=answer)
        assert outcome.code == 1
        assert asked in outcome.err
        assert "[y/N]" in outcome.err
        assert "memcastle::cli::aborted" in outcome.err
    assert method not in {request.method for request in daemon.requests}


@pytest.mark.parametrize(("command", "words", "asked", "method"), ASKING)
def test_yes_goes_on(shell: Shell, daemon: FakeDaemon, command, words, asked, method) -> None:  # type: ignore[no-untyped-def]
    assert shell.run(command, *words, terminal=True, stdin="Yes\n").code == 0
    assert daemon.requests[-1].method == method


@pytest.mark.parametrize(("command", "words", "asked", "method"), ASKING)
def test_nobody_is_asked_with_yes_or_without_a_terminal(  # type: ignore[no-untyped-def]
    shell: Shell, daemon: FakeDaemon, command, words, asked, method
) -> None:
    for outcome in (shell.run(command, *words, "--yes", terminal=True), shell.run(command, *words)):
        assert outcome.code == 0
        assert "[y/N]" not in outcome.err
    assert [request.method for request in daemon.requests] == [method, method]


def test_a_terminal_that_closes_is_no_answer(shell: Shell, daemon: FakeDaemon) -> None:
    outcome = shell.run(Wing, "delete", "w", terminal=True, stdin="")
    assert outcome.code == 1
    assert "memcastle::cli::prompt_failed" in outcome.err
    assert "DELETE" not in {request.method for request in daemon.requests}


def test_ctrl_c_at_the_question_changes_nothing(shell: Shell, daemon: FakeDaemon) -> None:
    class Interrupted(Terminal):
        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            raise KeyboardInterrupt

    streams = Streams(Interrupted(), io.StringIO(), Terminal())
    assert Wing().invoke(["delete", "w"], streams, shell.environ) == 1
    assert "memcastle::cli::prompt_failed" in streams.stderr.getvalue()  # type: ignore[attr-defined]
    assert "DELETE" not in {request.method for request in daemon.requests}


def test_arguments_are_checked_before_the_question(shell: Shell, daemon: FakeDaemon) -> None:
    for command, words in ((Room, ["delete", "w"]), (Job, ["cancel", "7"]), (Drawer, ["delete", "w/r"])):
        outcome = shell.run(command, *words, terminal=True, stdin="y\n")
        assert outcome.code == 1
        assert "[y/N]" not in outcome.err
    assert daemon.requests == []
