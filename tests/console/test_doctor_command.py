"""`doctor` finds what is wrong and touches nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memcastle_site.console import doctor
from memcastle_site.management.commands.doctor import Command as Doctor
from tests.console.support import FakeDaemon, Shell
from tests.console.test_status_command import HEALTH, status


@pytest.fixture(autouse=True)
def healthy(daemon: FakeDaemon, shell: Shell) -> None:
    daemon.on("GET /api/status", status())
    shell.environ["NO_COLOR"] = "1"


def findings(shell: Shell, *words: str, code: int = 0) -> dict[str, dict[str, Any]]:
    outcome = shell.run(Doctor, *words)
    assert outcome.code == code, outcome.out
    return {finding["check"]: finding for finding in outcome.json["findings"]}


def write_config(home: Path, text: str) -> None:
    file = home / ".config/memcastle/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)


def test_all_is_well(shell: Shell) -> None:
    found = findings(shell)
    assert {finding["status"] for finding in found.values()} == {"ok", "skipped"}
    assert found["write access"]["status"] == "skipped"
    assert found["storage and migrations"]["status"] == "ok"


def test_it_creates_nothing(shell: Shell, home: Path) -> None:
    findings(shell)
    assert list(home.iterdir()) == []


def test_unknown_keys_are_a_warning(shell: Shell, home: Path) -> None:
    write_config(home, '[server]\nprot = 1\n[sevrer]\nport = 2\n[webhook]\nport = 8787\nsecret = "xyzzy"\n')
    found = findings(shell)
    assert found["unknown keys"]["status"] == "warning"
    assert "server.prot" in found["unknown keys"]["summary"]
    assert "sevrer" in found["unknown keys"]["summary"]
    assert "webhook" in found["unused keys"]["summary"]


def test_an_invalid_value_is_an_error_and_the_rest_is_skipped(shell: Shell, home: Path) -> None:
    write_config(home, "[jobs]\nmax_concurrency = 0\n")
    found = findings(shell, code=1)
    assert found["effective"]["status"] == "error"
    assert "jobs.max_concurrency" in found["effective"]["summary"]
    assert found["effective"]["remediation"]
    assert found["daemon"]["status"] == "skipped"


def test_a_named_file_that_is_missing_is_an_error(shell: Shell, home: Path) -> None:
    assert findings(shell, "--config", str(home / "none.toml"), code=1)["file"]["status"] == "error"


def test_no_secret_is_printed(shell: Shell, home: Path) -> None:
    write_config(home, '[auth]\ntoken = " secret-of-mine-xyzzy"\n')
    assert "xyzzy" not in shell.run(Doctor).out
    shell.environ["MEMCASTLE_AUTH_TOKEN"] = "short-xyzzy"
    assert "xyzzy" not in shell.run(Doctor).out


def test_a_palace_path_that_is_no_directory_is_an_error(shell: Shell, home: Path) -> None:
    (home / "file").write_text("")
    found = findings(shell, "--palace", str(home / "file"), code=1)
    assert found["palace.path"]["status"] == "error"


def test_listening_to_everyone_without_authentication_is_a_warning(shell: Shell) -> None:
    shell.environ["MEMCASTLE_BIND"] = "0.0.0.0"
    assert findings(shell)["exposure"]["status"] == "warning"


def test_a_missing_package_is_an_error(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_REQUIRED_MODULES", ("surrealdb", "no_such_package"))
    found = findings(shell, code=1)["embedded database"]
    assert "no_such_package" in found["summary"]
    assert "requirements.txt" in found["remediation"]


def test_a_stopped_daemon_is_a_warning_and_a_broken_one_an_error(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/status", status(datastore={"ok": False, "error": "disk full"}))
    assert "disk full" in findings(shell, code=1)["storage and migrations"]["summary"]
    daemon.on("GET /api/status", status(datastore={"pending": ["0004"]}))
    assert "0004" in findings(shell, code=1)["storage and migrations"]["summary"]
    daemon.on("GET /api/status", (200, b"<html>"))
    assert findings(shell, code=1)["daemon"]["status"] == "error"
    gone = FakeDaemon()
    gone.close()
    shell.environ["MEMCASTLE_PORT"] = str(gone.port)
    found = findings(shell)
    assert (found["daemon"]["status"], found["storage and migrations"]["status"]) == ("warning", "skipped")


def test_workers_and_changes_are_looked_at(shell: Shell, daemon: FakeDaemon) -> None:
    assert findings(shell)["workers and changes"]["status"] == "skipped"
    daemon.on("GET /api/status", status(health=HEALTH))
    found = findings(shell)["workers and changes"]
    assert found["status"] == "ok"
    assert "4 of 4 alive" in found["summary"]
    daemon.on("GET /api/status", status(health=HEALTH | {"ok": False, "problems": ["no worker is alive"]}))
    found = findings(shell, code=1)
    assert found["workers and changes"]["summary"] == "no worker is alive"
    assert found["workers and changes"]["remediation"]
    assert found["storage and migrations"]["status"] == "ok"


def test_text_for_people_has_areas_and_advice(shell: Shell) -> None:
    shell.environ["MEMCASTLE_BIND"] = "0.0.0.0"
    text = shell.run(Doctor, terminal=True).out
    assert "Daemon and storage\n" in text
    assert "auth.enabled = true" in text
