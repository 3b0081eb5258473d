"""A mine that is told to stop, by the daemon's end or by its user, goes on later from where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.hazards.support import opened
from tests.mining.support import filed_texts, grow_tree, require_order
from tests.support import Daemon, running_daemon, until


def submit(daemon: Daemon, root: Path) -> str:
    return str(daemon.post("/api/jobs", {"type": "mine", "path": str(root)})["id"])


def shown(daemon: Daemon, job: str) -> dict[str, Any]:
    found: dict[str, Any] = daemon.get(f"/api/jobs/{job}")
    return found


def under_way(daemon: Daemon, job: str) -> None:
    """Waits until the mine has filed something and is not done."""
    until(lambda: shown(daemon, job)["progress"]["current"] > 0, "the mine to file something")
    assert shown(daemon, job)["status"] == "running"


def with_status(daemon: Daemon, job: str, status: str) -> dict[str, Any]:
    """The job once it has that status."""

    def reached() -> dict[str, Any] | None:
        found = shown(daemon, job)
        return found if found["status"] == status else None

    found: dict[str, Any] = until(reached, f"the job to be {status}")
    return found


async def test_a_mine_is_stopped_paused_cancelled_and_ended_without_loss(tmp_path: Path) -> None:
    trees = {tmp_path / name: grow_tree(tmp_path / name, 400, seed) for seed, name in enumerate(("stopped", "paused"))}
    stopped, paused = trees
    with running_daemon(tmp_path / "home") as daemon:
        job = submit(daemon, stopped)
        under_way(daemon, job)
        assert daemon.stop() == 0
        async with opened(daemon) as palace:
            (row,) = await palace.first("SELECT status, attempt, recovery_attempts, checkpoint, lease_owner FROM job;")
            filed = await filed_texts(palace, stopped)
            await require_order(palace)
        assert (row["status"], row["attempt"], row["recovery_attempts"], row["lease_owner"]) == ("queued", 1, 0, None)
        assert 0 < row["checkpoint"]["stats"]["documents"] == len(filed) < 400

        daemon.start()
        ended = daemon.ended(job)
        assert (ended["status"], ended["attempt"], ended["recovery_attempts"]) == ("completed", 2, 0)
        assert ended["result"]["filed"] == ended["result"]["documents"] == 400

        job = submit(daemon, paused)
        under_way(daemon, job)
        assert daemon.post(f"/api/jobs/{job}/pause") == {"status": "pause_requested"}
        halted = with_status(daemon, job, "paused")
        assert 0 < halted["progress"]["current"] < 400
        refused = daemon.request("DELETE", "/api/wings/paused")
        assert (refused.status, refused.json["code"]) == (409, "memcastle::palace::busy")
        daemon.kill()
        daemon.start()
        assert shown(daemon, job) == halted
        assert daemon.post(f"/api/jobs/{job}/resume") == {"status": "resumed"}
        until(lambda: shown(daemon, job)["progress"]["current"] > halted["progress"]["current"], "the mine to go on")
        assert daemon.post(f"/api/jobs/{job}/cancel") == {"status": "cancel_requested"}
        cancelled = with_status(daemon, job, "cancelled")
        assert cancelled["attempt"] == 2

        assert daemon.mine(paused)["status"] == "completed"
        assert daemon.get("/api/wings/paused")["wing"]["drawers"] == sum(
            room["drawers"] for room in daemon.get("/api/wings/paused/rooms")
        )
        assert daemon.stop() == 0
    async with opened(daemon) as palace:
        for root, texts in trees.items():
            assert await filed_texts(palace, root) == texts
        await require_order(palace)


async def test_a_daemon_asked_twice_to_stop_does_not_wait_and_loses_nothing(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 200, seed=9)
    with running_daemon(tmp_path / "home") as daemon:
        job = submit(daemon, root)
        under_way(daemon, job)
        assert daemon.process is not None
        daemon.process.terminate()
        daemon.stop()
        daemon.start()
        ended = daemon.ended(job)
        assert (ended["status"], ended["result"]["filed"]) == ("completed", 200)
    async with opened(daemon) as palace:
        assert await filed_texts(palace, root) == texts
        await require_order(palace)
