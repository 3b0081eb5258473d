"""`status`: exit codes for scripts, a report for people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from memcastle_site import conf
from memcastle_site.console.discovery import registry_file
from memcastle_site.daemon import registry
from memcastle_site.daemon.registry import Registration
from memcastle_site.management.commands.status import Command as Status
from tests.console.support import FakeDaemon, Shell, error_body


def status(**values: Any) -> dict[str, Any]:
    datastore = {
        "ok": True,
        "backend": "embedded",
        "location": "/p/db",
        "error": None,
        "migration_version": 3,
        "latest_version": 3,
        "pending": [],
    }
    report = {
        "version": "0.1.0",
        "uptime_secs": 3725,
        "palace_name": "default",
        "drawer_count": 1234,
        "jobs_queued": 1,
        "jobs_running": 2,
        "jobs_paused": 0,
        "mode": "full",
        "pid": 4711,
        "started_at": "2026-03-01T12:00:00Z",
        "bind_addr": "127.0.0.1:8420",
        "palace_path": "/p",
        "datastore": datastore | values.pop("datastore", {}),
        "auth_enabled": False,
    }
    return report | values


@pytest.fixture(autouse=True)
def plain(shell: Shell) -> None:
    shell.environ["NO_COLOR"] = "1"


def test_a_healthy_daemon_is_zero(shell: Shell, daemon: FakeDaemon, home: Path) -> None:
    daemon.on("GET /api/status", status())
    outcome = shell.run(Status)
    assert outcome.code == 0
    assert outcome.json == {
        "running": True,
        "endpoint": daemon.url,
        "endpoint_source": "config",
        "mcp_url": f"{daemon.url}/mcp",
        "palace_path": str(home / ".local/share/memcastle/default"),
        "registry": {"state": "absent", "pid": None, "bind_addr": None},
        "daemon": status(),
    }


def test_the_report_for_people(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/status", status())
    text = shell.run(Status, terminal=True).out
    for fact in ("memcastle is running\n", "pid 4711, up 1h 2m 5s", "migrations 3/3", "1,234", "1 queued, 2 running, 0 paused"):
        assert fact in text


@pytest.mark.parametrize(
    ("datastore", "shown"),
    [
        ({"ok": False, "error": "disk \x1b full"}, "UNAVAILABLE: disk \\x1b full"),
        (
            {"pending": ["0004_words"], "migration_version": 3, "latest_version": 4},
            "0004_words (run: python manage.py migrate)",
        ),
    ],
)
def test_a_degraded_daemon_is_one(shell: Shell, daemon: FakeDaemon, datastore: dict[str, Any], shown: str) -> None:
    daemon.on("GET /api/status", status(datastore=datastore))
    assert shell.run(Status).code == 1
    text = shell.run(Status, terminal=True).out
    assert "running but degraded" in text
    assert shown in text


HEALTH: dict[str, Any] = {
    "ok": True,
    "problems": [],
    "oldest_queued_secs": 184,
    "workers": {
        "configured": 4,
        "alive": 4,
        "busy": 1,
        "restarts": 0,
        "last_heartbeat_at": "2026-03-01T12:00:09.123456789Z",
    },
    "changes": {"alive": True, "lag_ms": 1012, "behind": 1, "last_read_at": "2026-03-01T12:00:09Z", "restarts": 2},
}


def test_the_report_tells_how_jobs_and_changes_are_worked_off(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/status", status(health=HEALTH))
    outcome = shell.run(Status, terminal=True)
    assert outcome.code == 0
    for fact in (
        "memcastle is running\n",
        "queue     the oldest job has waited for 3m 4s",
        "workers   4 of 4 alive, 1 busy, last heartbeat 2026-03-01 12:00:09 UTC",
        "changes   1,012 ms behind, 1 transaction unread, 2 restarts",
    ):
        assert fact in outcome.out


def test_a_daemon_that_finds_itself_unwell_is_one(shell: Shell, daemon: FakeDaemon) -> None:
    ill = HEALTH | {
        "ok": False,
        "problems": ["no worker is alive \x1b", "the reader of changes died"],
        "oldest_queued_secs": None,
        "workers": HEALTH["workers"] | {"alive": 0, "last_heartbeat_at": None},
        "changes": HEALTH["changes"] | {"alive": False, "lag_ms": None},
    }
    daemon.on("GET /api/status", status(health=ill))
    assert shell.run(Status).code == 1
    text = shell.run(Status, terminal=True).out
    for fact in (
        "running but degraded",
        "0 of 4 alive, 1 busy\n",
        "NOT READ",
        "problem   no worker is alive \\x1b\n",
        "problem   the reader of changes died\n",
    ):
        assert fact in text
    assert "waited" not in text


@pytest.mark.parametrize(
    "reply", [(401, error_body("memcastle::auth::unauthorized", "missing")), (500, b"oops"), (200, b"<html>")]
)
def test_an_answer_that_is_no_status_is_one(shell: Shell, daemon: FakeDaemon, reply: tuple[int, Any]) -> None:
    daemon.on("GET /api/status", reply)
    outcome = shell.run(Status)
    assert outcome.code == 1
    assert outcome.out == ""
    assert "memcastle::client::" in outcome.err


def test_nothing_running_is_three(shell: Shell, home: Path) -> None:
    gone = FakeDaemon()
    gone.close()
    shell.environ["MEMCASTLE_PORT"] = str(gone.port)
    outcome = shell.run(Status)
    assert outcome.code == 3
    assert outcome.json["running"] is False
    assert outcome.json["daemon"] is None
    text = shell.run(Status, terminal=True).out
    assert "not running" in text
    assert "daemon start" in text


@pytest.mark.parametrize(
    ("pid", "state", "told"), [(2**22 + 1, "stale", "gone"), (os.getpid(), "live", "does not answer")], ids=["dead", "alive"]
)
def test_a_registry_file_without_an_answering_daemon_is_told(shell: Shell, pid: int, state: str, told: str) -> None:
    gone = FakeDaemon()
    gone.close()
    shell.environ["MEMCASTLE_PORT"] = str(gone.port)
    entry = Registration(pid, f"127.0.0.1:{gone.port}", "2026-03-01T12:00:00+00:00", "0.1.0", registry.identity_of(pid))
    registry.write(registry_file(conf.load({}, shell.environ)), entry)
    outcome = shell.run(Status)
    assert outcome.code == 3
    assert outcome.json["registry"] == {"state": state, "pid": pid, "bind_addr": f"127.0.0.1:{gone.port}"}
    assert told in shell.run(Status, terminal=True).out
