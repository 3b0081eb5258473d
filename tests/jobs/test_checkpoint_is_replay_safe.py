"""A checkpoint that is cut short, however and wherever, goes on with nothing stored twice and nothing left out."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from jobs import services
from jobs.domain.checkpoint import CheckpointItem, drawer_id
from jobs.domain.job import Job, Status
from jobs.handlers import checkpoint as handler
from jobs.runtime.run import JobRun
from jobs.store import LEASE_LOST
from palace.domain.modes import Caller
from palace.store import Store, TransactionRefused
from palace.store.drawers import count_drawers
from tests.hazards.support import opened
from tests.jobs.support import PATIENCE_SECONDS, StartScheduler, job, settled
from tests.support import Daemon, running_daemon, until

CALLER = Caller(requested_by="an agent")


async def submitted(*texts: str) -> Job:
    return await services.submit_checkpoint(CALLER, [CheckpointItem("general", text, (), "manual") for text in texts])


async def texts(palace: Store) -> list[str]:
    return sorted(await palace.first("SELECT VALUE content FROM drawer;"))


class Hold:
    """Holds a run back before one of its items, until the test has done what it came for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: int) -> None:
        self.reached, self._go = threading.Event(), threading.Event()
        real, items = handler.file_item, iter(range(1000))

        async def held(*arguments: Any) -> bool:
            if next(items) == before:
                self.reached.set()
                assert await asyncio.to_thread(self._go.wait, PATIENCE_SECONDS)
            return await real(*arguments)

        monkeypatch.setattr(handler, "file_item", held)

    async def here(self) -> None:
        assert await asyncio.to_thread(self.reached.wait, PATIENCE_SECONDS)

    def let_go(self) -> None:
        self._go.set()


async def test_a_paused_checkpoint_stops_between_items_and_goes_on_there(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = Hold(monkeypatch, before=1)
    await start_scheduler()
    asked = await submitted("a", "b", "a", "c")
    await hold.here()
    await services.pause(asked.id)
    hold.let_go()
    paused = await settled(asked.id)
    assert (paused.status, paused.checkpoint) == (Status.PAUSED, {"next_index": 2, "duplicates": 0})
    assert await texts(palace) == ["a", "b"]
    await services.resume(asked.id)
    done = await settled(asked.id, Status.COMPLETED)
    assert (done.result, await texts(palace)) == ({"items": 4, "duplicates": 1}, ["a", "b", "c"])


async def test_a_cancelled_checkpoint_keeps_what_it_has_filed(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = Hold(monkeypatch, before=1)
    await start_scheduler()
    asked = await submitted("a", "b", "c")
    await hold.here()
    await services.cancel(asked.id)
    hold.let_go()
    cancelled = await settled(asked.id)
    assert (cancelled.status, cancelled.result, cancelled.checkpoint["next_index"]) == (Status.CANCELLED, None, 2)
    assert await texts(palace) == ["a", "b"]


async def test_a_job_set_back_to_its_beginning_finds_what_it_wrote(palace: Store, start_scheduler: StartScheduler) -> None:
    await start_scheduler()
    done = await settled((await submitted("a", "b", "a")).id)
    written = await texts(palace)
    await palace.query(
        "UPDATE type::record('job', $id) SET status = 'queued', checkpoint = {}, result = NONE, completed_at = NONE", id=done.id
    )
    again = await settled(done.id, Status.COMPLETED)
    assert (again.attempt, again.result) == (2, {"items": 3, "duplicates": 1})
    assert (written, await texts(palace)) == (["a", "b"], ["a", "b"])


async def test_a_run_that_lost_its_job_writes_nothing(
    palace: Store, start_scheduler: StartScheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker took the job over and files the rest; the one that wakes up late must not add to it."""
    hold = Hold(monkeypatch, before=1)
    await start_scheduler()
    asked = await submitted("a", "b", "c")
    await hold.here()
    await palace.query("UPDATE type::record('job', $id) SET lease_owner = 'another worker'", id=asked.id)
    taken_over = await job(asked.id)
    rest = JobRun(taken_over, "another worker", 30)
    hold.let_go()
    steps = await asyncio.to_thread(list, handler.checkpoint(rest))
    assert [step.progress.current for step in steps] == [2, 3]
    late = JobRun(taken_over, "late worker", 30)
    with pytest.raises(TransactionRefused, match=LEASE_LOST):
        await asyncio.to_thread(next, handler.checkpoint(late))
    assert await texts(palace) == ["a", "b", "c"]
    assert (await job(asked.id)).checkpoint == {"next_index": 3, "duplicates": 0}


async def test_two_checkpoints_of_the_same_texts_at_once_store_them_once(
    palace: Store, start_scheduler: StartScheduler
) -> None:
    asked = [await submitted(*(f"text {number}" for number in range(10))) for _ in range(4)]
    await start_scheduler()
    done = [await settled(one.id) for one in asked]
    assert {found.status for found in done} == {Status.COMPLETED}
    assert sum((found.result or {})["duplicates"] for found in done) == 30
    assert await count_drawers(palace) == 10


ITEMS = 300
CHECKPOINTS = 2


def payload(chance: random.Random) -> dict[str, Any]:
    """Items of all kinds, every sixth a text that came before."""
    items: list[dict[str, Any]] = []
    for number in range(ITEMS):
        repeated = number % 6 == 5
        source = {"kind": "transcript", "agent": "ada"}
        items.append(
            {
                "destination": "general" if repeated else chance.choice(("general", "project", "diary", "preference")),
                "content": "a text that comes again and again"
                if repeated
                else f"text {number} " + "word " * chance.randint(1, 400),
                "name": f"named/{number}" if number % 10 == 0 else None,
                "tags": ["t"],
                "source": source,
            }
        )
    return {"items": items}


def killed_on_the_way(daemon: Daemon, job: str, past: int, chance: random.Random) -> bool:
    """Kills the daemon a moment after the job got past so many items; False when the job was faster."""

    def found() -> Any:
        state = daemon.get(f"/api/jobs/{job}")
        over = state["status"] == "running" and state["progress"]["current"] >= past
        return state if over or state["status"] in ("completed", "failed") else None

    state = until(found, "the checkpoint to get going")
    if state["status"] != "running":
        return False
    time.sleep(chance.uniform(0, 0.05))
    daemon.kill()
    daemon.start()
    return True


async def test_kill_9_in_the_middle_stores_nothing_twice_and_loses_nothing(tmp_path: Path) -> None:
    seed = int(os.environ.get("MEMCASTLE_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"MEMCASTLE_TEST_SEED={seed}")
    chance = random.Random(seed)
    sent: dict[str, dict[str, Any]] = {}
    kills = 0
    with running_daemon(tmp_path / "home") as daemon:
        for _ in range(CHECKPOINTS):
            wanted = payload(chance)
            for item in wanted["items"]:
                item["wing"] = f"wing {len(sent)}"
            job = str(daemon.post("/api/jobs", {"type": "checkpoint", "payload": wanted})["id"])
            sent[job] = wanted
            for past in sorted(chance.sample(range(ITEMS - 50), 2)):
                kills += killed_on_the_way(daemon, job, past, chance)
            ended = daemon.ended(job)
            assert (ended["status"], ended["error"]) == ("completed", None)
            assert ended["result"] == {"items": ITEMS, "duplicates": ITEMS // 6 - 1}
        audit = daemon.ended(daemon.post("/api/jobs", {"type": "audit"})["id"])["result"]
    assert kills >= CHECKPOINTS
    assert (audit["orphan_drawers"], audit["dangling_provenance_drawers"]) == ([], [])
    async with opened(daemon) as palace:
        rows = await palace.first("SELECT record::id(id) AS id, content, name, provenance.job_id AS job FROM drawer;")
    stored: dict[str, dict[str, Any]] = {row["id"]: row for row in rows}
    assert len(stored) == sum(ITEMS - ITEMS // 6 + 1 for _ in sent)
    for job, wanted in sent.items():
        for index, item in enumerate(wanted["items"]):
            if (row := stored.get(drawer_id(job, index))) is not None:
                assert (row["content"], row.get("name"), row["job"]) == (item["content"], item["name"], job)
        contents = Counter(row["content"] for row in rows if row["job"] == job)
        assert contents == Counter({item["content"]: 1 for item in wanted["items"]})
