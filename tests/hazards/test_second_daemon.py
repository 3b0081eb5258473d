"""A palace belongs to one daemon, and so does an address. What a dead daemon leaves behind misleads nobody."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT, Daemon, environment


def serve(home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """A daemon that is expected to end by itself."""
    command = [sys.executable, str(ROOT / "manage.py"), "serve"]
    environ = environment(home, **settings)
    return subprocess.run(command, cwd=home, env=environ, capture_output=True, text=True, timeout=60, check=False)


def test_a_second_daemon_of_the_same_palace_ends_at_once_with_help(daemon: Daemon) -> None:
    second = serve(daemon.home, MEMCASTLE_PORT="0")
    assert second.returncode == 1
    assert "in use by another process" in second.stderr
    assert "memcastle::store::backend_failed" in second.stderr
    assert "daemon stop" in second.stderr
    assert "Traceback" not in second.stderr
    assert daemon.get("/api/health") == {"status": "ok"}
    assert daemon.manage("status").returncode == 0


def test_a_taken_address_fails_before_anything_is_made(daemon: Daemon, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    second = serve(other, MEMCASTLE_PORT=str(daemon.port))
    assert second.returncode == 1
    assert "memcastle::server::bind_failed" in second.stderr
    assert list(other.iterdir()) == []


def test_a_registry_file_of_a_killed_daemon_is_stale_even_when_its_pid_lives_again(daemon: Daemon) -> None:
    (file,) = (daemon.home / "state" / "memcastle" / "run").glob("*/daemon.json")
    daemon.kill()
    report = json.loads(daemon.manage("status").stdout)
    assert (report["running"], report["registry"]["state"]) == (False, "stale")
    registration = json.loads(file.read_text())
    registration["pid"] = os.getpid()
    file.write_text(json.dumps(registration))
    answer = daemon.manage("status")
    report = json.loads(answer.stdout)
    assert (answer.returncode, report["registry"]["state"]) == (3, "stale")
    daemon.start()
    assert json.loads(daemon.manage("status").stdout)["registry"]["state"] == "live"


def test_an_interrupt_and_a_terminate_end_with_zero_and_free_the_palace(daemon: Daemon) -> None:
    daemon.post("/api/wings", {"name": "kept"})
    assert daemon.stop(signal.SIGINT) == 0
    assert not list((daemon.home / "state" / "memcastle" / "run").glob("*/daemon.json"))
    daemon.start()
    assert [wing["name"] for wing in daemon.get("/api/wings")] == ["kept"]
    assert daemon.stop(signal.SIGTERM) == 0
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", daemon.port)) != 0
    migrated = daemon.manage("migrate", "--check")
    assert migrated.returncode == 0
    assert json.loads(migrated.stdout)["pending"] == []
