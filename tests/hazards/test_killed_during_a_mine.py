"""kill -9 at random moments of a mine: nothing acknowledged is lost, nothing is filed twice or by halves."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

from tests.hazards.support import opened
from tests.mining.support import filed_texts, grow_tree, require_order
from tests.support import Daemon, running_daemon, until

MINES = 10


def chosen_seed() -> int:
    """A new seed for each run, or the one to reproduce a failure with."""
    return int(os.environ.get("MEMCASTLE_TEST_SEED", time.time_ns() % 1_000_000))


def submit(daemon: Daemon, root: Path) -> str:
    return str(daemon.post("/api/jobs", {"type": "mine", "path": str(root)})["id"])


def killed_past(daemon: Daemon, job: str, documents: int, chance: random.Random) -> bool:
    """Kills the daemon a moment after the mine got past so many documents; False when the mine was faster."""

    def past() -> dict[str, Any] | None:
        found: dict[str, Any] = daemon.get(f"/api/jobs/{job}")
        over = found["status"] != "queued" and found["progress"]["current"] >= documents
        return found if over or found["status"] in ("completed", "failed") else None

    found = until(past, "the mine to get going")
    if found["status"] != "running":
        return False
    time.sleep(chance.uniform(0, 0.15))
    daemon.kill()
    daemon.start()
    return True


async def test_ten_mines_survive_one_or_two_kills_each(tmp_path: Path) -> None:
    seed = chosen_seed()
    print(f"MEMCASTLE_TEST_SEED={seed}")
    chance = random.Random(seed)
    trees: dict[Path, dict[str, str]] = {}
    jobs: dict[Path, str] = {}
    kills = 0
    with running_daemon(tmp_path / "home") as daemon:
        for number in range(MINES):
            root = tmp_path / f"tree-{number}"
            trees[root] = grow_tree(root, chance.randint(150, 180), chance.randrange(10**6), characters=(100, 700))
            jobs[root] = submit(daemon, root)
            for _ in range(chance.choice((1, 1, 2))):
                kills += killed_past(daemon, jobs[root], chance.choice((0, 0, 64, 128)), chance)
            ended = daemon.ended(jobs[root])
            assert (ended["status"], ended["error"]) == ("completed", None)
            assert ended["recovery_attempts"] <= 2
            assert ended["result"]["documents"] == ended["result"]["filed"] == len(trees[root])
            assert (ended["result"]["unchanged"], ended["result"]["superseded"]) == (0, 0)
        created = {root: daemon.get(f"/api/jobs/{job}")["result"]["created"] for root, job in jobs.items()}
        audit = daemon.ended(daemon.post("/api/jobs", {"type": "audit"})["id"])["result"]
        drawers = daemon.get("/api/status")["drawer_count"]
    assert kills >= MINES // 2
    assert (audit["orphan_drawers"], audit["dangling_provenance_drawers"], audit["stuck_failed_jobs"]) == ([], [], 0)
    assert audit["total_drawers_in_scope"] == drawers == sum(created.values())
    async with opened(daemon) as palace:
        for root, texts in trees.items():
            assert await filed_texts(palace, root) == texts
        await require_order(palace)


async def test_the_third_crash_fails_the_job_and_a_retry_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    texts = grow_tree(root, 300, seed=7)
    chance = random.Random(7)
    with running_daemon(tmp_path / "home", MEMCASTLE_JOBS_DRAIN_TIMEOUT_SECS="1") as daemon:
        job = submit(daemon, root)
        for crashes in (1, 2, 3):
            reached = daemon.get(f"/api/jobs/{job}")["progress"]["current"]
            assert killed_past(daemon, job, reached, chance)
            assert daemon.get(f"/api/jobs/{job}")["recovery_attempts"] == crashes
        broken = daemon.get(f"/api/jobs/{job}")
        assert (broken["status"], broken["attempt"]) == ("failed", 3)
        assert "the daemon died 3 times" in broken["error"]
        assert "a retry continues from its checkpoint" in broken["error"]
        assert daemon.post(f"/api/jobs/{job}/retry") == {"status": "retried"}
        ended = daemon.ended(job)
        assert (ended["status"], ended["attempt"], ended["recovery_attempts"]) == ("completed", 4, 3)
        assert ended["result"]["documents"] == ended["result"]["filed"] == 300
    async with opened(daemon) as palace:
        assert await filed_texts(palace, root) == texts
        await require_order(palace)
