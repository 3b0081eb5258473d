"""`auth generate` gives the token to whoever catches stdout, and to nobody else."""

from __future__ import annotations

import pytest

from memcastle_site.management.commands.auth import Command as Auth
from tests.console.support import FakeDaemon, Shell

TOKEN = "mc_" + "a" * 64


@pytest.mark.parametrize("words", [["generate", "--yes"], ["generate", "--yes", "--json"]])
@pytest.mark.parametrize("terminal", [True, False])
def test_the_token_stands_alone_on_stdout(shell: Shell, daemon: FakeDaemon, words: list[str], terminal: bool) -> None:
    daemon.on("POST /api/auth/token", {"token": TOKEN, "algorithm": "sha256", "version": 1, "created_at": "x"})
    outcome = shell.run(Auth, *words, terminal=terminal)
    assert outcome.out == TOKEN + "\n"
    assert TOKEN not in outcome.err
    assert "MEMCASTLE_AUTH_TOKEN" in outcome.err


def test_revoke_tells_whether_there_was_one(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("DELETE /api/auth/token", {"revoked": False})
    assert shell.run(Auth, "revoke").json == {"revoked": False}
    assert "no generated token" in shell.run(Auth, "revoke", "-y", terminal=True).out
