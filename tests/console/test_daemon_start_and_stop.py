"""`daemon start`, `stop` and `restart` against a process that behaves like the daemon."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memcastle_site import conf
from memcastle_site.console import lifecycle
from memcastle_site.console.discovery import find, registry_file
from memcastle_site.management.commands.daemon import Command as Daemon
from tests.console.support import FakeDaemon, Shell


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Every process that a command starts; whatever is left is ended with the test."""
    started: list[subprocess.Popen[bytes]] = []
    spawn = lifecycle.spawn

    def kept(words: list[str], log: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
        started.append(spawn(words, log, environ))
        return started[-1]

    monkeypatch.setattr(lifecycle, "MANAGE", Path(__file__).with_name("fake_manage.py"))
    monkeypatch.setattr(lifecycle, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(lifecycle, "ATTEMPT_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(lifecycle, "spawn", kept)
    yield started
    for child in started:
        child.kill()
        child.wait()


@pytest.fixture
def shell(home: Path, children: list[subprocess.Popen[bytes]]) -> Shell:
    """A shell whose daemon, when it is started, chooses a free port."""
    return Shell({"HOME": str(home), "MEMCASTLE_PORT": "0"})


def loaded_by(shell: Shell) -> conf.Loaded:
    return conf.load({}, shell.environ)


def log_of(shell: Shell) -> Path:
    return registry_file(loaded_by(shell)).with_name("daemon.log")


def served_at(line: str) -> str:
    return line.rpartition(" ")[2].strip()


def status_of(url: str) -> Any:
    with urllib.request.urlopen(f"{url}/api/status") as answer:
        return json.load(answer)


def test_start_prints_one_line_and_the_daemon_outlives_the_command(
    shell: Shell, children: list[subprocess.Popen[bytes]]
) -> None:
    outcome = shell.run(Daemon, "start", "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("started: memcastle is serving on http://127.0.0.1:")
    assert children[0].poll() is None
    assert status_of(served_at(outcome.out))["status"] == "ok"


def test_the_child_gets_the_resolved_palace_and_an_absolute_configuration(
    shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    (home / "some.toml").write_text("[jobs]\nmax_concurrency = 3\n")
    shell.environ["MEMCASTLE_CONFIG"] = "some.toml"
    outcome = shell.run(Daemon, "start", "-v", "--mode", "read_only", "--palace", str(home / "p"), "--bind", "127.0.0.1")
    assert outcome.code == 0, outcome.err
    argv = status_of(served_at(outcome.out))["argv"]
    assert argv == ["serve", "--palace", str(home / "p"), "--bind", "127.0.0.1", "--config", str(home / "some.toml")]


def test_a_second_start_is_refused(shell: Shell, children: list[subprocess.Popen[bytes]]) -> None:
    url = served_at(shell.run(Daemon, "start").out)
    outcome = shell.run(Daemon, "start")
    assert outcome.code == 1
    assert "memcastle::client::already_running" in outcome.err
    assert url in outcome.err
    assert len(children) == 1


def test_a_stranger_at_the_address_is_named(shell: Shell, daemon: FakeDaemon, children: list[subprocess.Popen[bytes]]) -> None:
    daemon.on("GET /api/health", (200, b"<html>"))
    outcome = shell.run(Daemon, "start", "--port", str(daemon.port))
    assert outcome.code == 1
    assert "memcastle::client::already_running" in outcome.err
    assert "does not answer as a daemon should" in outcome.err
    assert children == []


def test_a_child_that_dies_is_tried_again_and_then_its_log_is_shown(
    shell: Shell, children: list[subprocess.Popen[bytes]]
) -> None:
    shell.environ["FAKE_SERVE"] = "dies"
    outcome = shell.run(Daemon, "start")
    assert outcome.code == 1
    assert "memcastle::server::failed" in outcome.err
    assert "exit code 7" in outcome.err
    assert outcome.err.count("the cellar is flooded") == 3
    assert str(log_of(shell)) in outcome.err
    assert len(children) == 3


def test_a_child_that_dies_once_is_forgiven(shell: Shell, children: list[subprocess.Popen[bytes]]) -> None:
    shell.environ["FAKE_SERVE"] = "dies_once"
    assert shell.run(Daemon, "start").code == 0
    assert len(children) == 2


def test_a_child_that_never_serves_is_reported(shell: Shell, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    silent = home / "silent.py"
    silent.write_text("import threading\nprint('still migrating', flush=True)\nthreading.Event().wait()\n")
    monkeypatch.setattr(lifecycle, "MANAGE", silent)
    monkeypatch.setattr(lifecycle, "WAIT_SECONDS", 1.0)
    outcome = shell.run(Daemon, "start")
    assert outcome.code == 1
    assert "did not serve within 1 seconds" in outcome.err
    assert "manage.py serve" in outcome.err


def test_the_log_is_private_and_the_one_before_is_kept(shell: Shell) -> None:
    shell.environ["FAKE_SERVE"] = "dies"
    shell.run(Daemon, "start")
    first = log_of(shell).read_text()
    shell.run(Daemon, "start")
    log = log_of(shell)
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700
    assert log.with_name("daemon.log.1").read_text() == first


def test_stop_waits_until_file_and_process_are_gone(shell: Shell, home: Path, children: list[subprocess.Popen[bytes]]) -> None:
    shell.environ |= {"FAKE_SERVE": "drains", "FAKE_GATE": str(home / "gate")}
    shell.run(Daemon, "start")
    outcomes: list[Any] = []
    stopping = threading.Thread(target=lambda: outcomes.append(shell.run(Daemon, "stop")))
    stopping.start()
    stopping.join(0.3)
    assert stopping.is_alive()
    assert find(loaded_by(shell)).state == "live"
    (home / "gate").touch()
    stopping.join()
    assert outcomes[0].code == 0
    assert outcomes[0].json == {"status": "shutting_down", "stopped": True}
    assert find(loaded_by(shell)).state == "absent"
    assert children[0].wait() == 0


def test_a_stop_that_takes_too_long_is_an_error(shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.environ |= {"FAKE_SERVE": "drains", "FAKE_GATE": str(home / "gate")}
    shell.run(Daemon, "start")
    monkeypatch.setattr(lifecycle, "WAIT_SECONDS", 0.2)
    outcome = shell.run(Daemon, "stop")
    assert outcome.code == 1
    assert "still stopping" in outcome.err


def test_stop_without_a_daemon_is_an_error(shell: Shell) -> None:
    outcome = shell.run(Daemon, "stop")
    assert outcome.code == 1
    assert "memcastle::client::not_running" in outcome.err


def test_restart_replaces_the_process(shell: Shell, children: list[subprocess.Popen[bytes]]) -> None:
    shell.run(Daemon, "start")
    outcome = shell.run(Daemon, "restart")
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("restarted: memcastle is serving on http://127.0.0.1:")
    first, second = children
    assert first.wait() == 0
    registration = find(loaded_by(shell)).registration
    assert registration is not None
    assert registration.pid == second.pid


@pytest.mark.parametrize(("action", "processes"), [("stop", 1), ("restart", 2)])
def test_a_daemon_that_is_already_stopping_is_waited_for(
    shell: Shell, home: Path, children: list[subprocess.Popen[bytes]], action: str, processes: int
) -> None:
    shell.environ |= {"FAKE_SERVE": "drains", "FAKE_GATE": str(home / "gate")}
    url = served_at(shell.run(Daemon, "start").out)
    urllib.request.urlopen(urllib.request.Request(f"{url}/api/shutdown", method="POST")).close()
    opening = threading.Timer(0.2, (home / "gate").touch)
    opening.start()
    outcome = shell.run(Daemon, action)
    opening.join()
    assert outcome.code == 0, outcome.err
    assert len(children) == processes
    assert children[0].wait() == 0


def test_restart_with_nothing_running_just_starts(shell: Shell) -> None:
    assert shell.run(Daemon, "restart").out.startswith("restarted:")
