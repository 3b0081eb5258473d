"""`db` opens and closes the database endpoint, and says how to connect."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from memcastle_site.management.commands.db import Command as Db
from tests.console.support import FakeDaemon, Shell, error_body
from tests.support import Daemon

OPEN: dict[str, Any] = {
    "running": True,
    "addr": "127.0.0.1:8000",
    "url": "ws://127.0.0.1:8000",
    "namespace": "memcastle",
    "database": "palace",
    "user": "memcastle",
    "remote": False,
    "auth_required": False,
    "started_at": "2026-03-01T12:00:00.000000000Z",
    "already_running": False,
}
CLOSED = OPEN | {"running": False, "addr": None, "url": None, "started_at": None}


@pytest.fixture(autouse=True)
def plain(shell: Shell, daemon: FakeDaemon) -> None:
    shell.environ["NO_COLOR"] = "1"
    daemon.on("POST /api/db", OPEN)
    daemon.on("GET /api/db", OPEN)
    daemon.on("DELETE /api/db", CLOSED)


@pytest.mark.parametrize(
    ("words", "body"),
    [
        ([], {}),
        (["--port", "0"], {"port": 0}),
        (["--bind", "::1", "--port", "9000"], {"bind": "::1", "port": 9000}),
        (["--allow-remote"], {"allow_remote": True}),
        (
            ["--allow-origin", "https://a.example", "--allow-origin", "https://b.example"],
            {"allowed_origins": ["https://a.example", "https://b.example"]},
        ),
    ],
    ids=["nothing", "any port", "address", "remote", "origins"],
)
def test_start_sends_what_was_given_and_leaves_the_rest_to_the_configuration(
    shell: Shell, daemon: FakeDaemon, words: list[str], body: dict[str, Any]
) -> None:
    assert shell.run(Db, "start", *words).json == OPEN
    assert daemon.requests[0].body == body


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_that_is_none_is_refused_here(shell: Shell, daemon: FakeDaemon, port: str) -> None:
    outcome = shell.run(Db, "start", f"--port={port}")
    assert outcome.code == 1
    assert "memcastle::input::invalid" in outcome.err
    assert daemon.requests == []


def test_status_and_stop_print_the_daemons_answer(shell: Shell, daemon: FakeDaemon) -> None:
    assert shell.run(Db, "status").json == OPEN
    assert shell.run(Db, "stop").json == CLOSED
    assert daemon.asked() == ["GET /api/db", "DELETE /api/db"]


@pytest.mark.parametrize(
    ("more", "facts"),
    [
        ({}, ["endpoint is open", "password   memcastle, since", "this machine only"]),
        ({"auth_required": True, "remote": True}, ["the daemon's access token", "other machines, too"]),
        ({"already_running": True}, ["endpoint is already open"]),
    ],
    ids=["plain", "guarded", "already"],
)
def test_the_text_says_how_to_connect(shell: Shell, daemon: FakeDaemon, more: dict[str, Any], facts: list[str]) -> None:
    daemon.on("POST /api/db", OPEN | more)
    text = shell.run(Db, "start", terminal=True).out
    for fact in (*facts, "ws://127.0.0.1:8000", "namespace  memcastle", "database   palace", "user       memcastle", "db stop"):
        assert fact in text


def test_the_text_of_a_closed_endpoint_says_how_to_open_it(shell: Shell) -> None:
    text = shell.run(Db, "stop", terminal=True).out
    assert "endpoint is closed" in text
    assert "manage.py db start" in text


def test_a_refusal_is_shown(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/db", (409, error_body("memcastle::db::already_running", "open on another port")))
    outcome = shell.run(Db, "start", "--port", "9000")
    assert outcome.code == 1
    assert "memcastle::db::already_running" in outcome.err


def test_a_real_daemon_opens_and_closes_it(shared_daemon: Daemon) -> None:
    opened = json.loads(shared_daemon.manage("db", "start", "--port", "0").stdout)
    try:
        assert opened["running"]
        assert not opened["already_running"]
        assert opened["url"] == f"ws://{opened['addr']}"
        host, _, port = opened["addr"].rpartition(":")
        socket.create_connection((host, int(port))).close()
        again = json.loads(shared_daemon.manage("db", "start").stdout)
        assert again == opened | {"already_running": True}
        assert json.loads(shared_daemon.manage("db", "status").stdout)["addr"] == opened["addr"]
    finally:
        closed = shared_daemon.manage("db", "stop")
    assert json.loads(closed.stdout)["running"] is False
    assert closed.returncode == 0
    assert shared_daemon.manage("db", "stop").returncode == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))
