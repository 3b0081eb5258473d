"""`POST /api/shutdown` ends the daemon in good order, whatever the mode, and its palace can be served again at once."""

from __future__ import annotations

import http.client
from pathlib import Path

from tests.rest.support import Wire, faults_in_log, path, refused
from tests.support import PATIENCE_SECONDS, Daemon, running_daemon, until


def ended(daemon: Daemon) -> int:
    assert daemon.process is not None
    code = daemon.process.wait(PATIENCE_SECONDS)
    daemon.process = None
    return code


def test_a_daemon_told_to_stop_answers_ends_with_0_and_comes_back(tmp_path: Path) -> None:
    with running_daemon(tmp_path / "home") as daemon:
        drawer = daemon.post(path("wings", "w", "rooms", "r", "drawers"), {"content": "kept over the stop"})
        job = daemon.post("/api/jobs", {"type": "demo", "steps": 1_000_000})["id"]
        until(lambda: daemon.get(f"/api/jobs/{job}")["progress"]["current"], "the job to run")
        refused(daemon.request("GET", "/api/shutdown"), 405, "server::method_not_allowed")
        kept_alive = Wire(daemon)
        assert kept_alive.ask("GET", "/api/health").status == 200
        bogus = {"X-MemCastle-Mode": "bogus"}
        assert daemon.request("POST", "/api/shutdown", headers=bogus).json == {"status": "shutting_down"}
        try:
            refused_or_gone = kept_alive.ask("GET", "/api/wings")
        except (OSError, http.client.HTTPException):
            pass
        else:
            assert refused_or_gone.status in (200, 503)
            assert refused_or_gone.headers["content-type"].startswith("application/json")
        kept_alive.close()
        assert ended(daemon) == 0
        assert not list((daemon.home / "state").rglob("daemon.json"))

        daemon.start()
        assert daemon.get(path("wings", "w", "rooms", "r", "drawers", drawer["id"]))["content"] == "kept over the stop"
        again = daemon.get(f"/api/jobs/{job}")
        assert again["status"] in ("queued", "running")
        assert (again["recovery_attempts"], again["checkpoint"]["step"] >= 1) == (0, True)
        assert daemon.request("POST", f"/api/jobs/{job}/cancel").status == 200
        assert daemon.ended(job)["status"] == "cancelled"
        assert faults_in_log(daemon) == []
