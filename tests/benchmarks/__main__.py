"""Prints what mining, searching and starting cost, beside the figures that peers showed on the same work."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.corpus import copy_corpus
from tests.benchmarks.meter import Cost, measured, memory_of
from tests.support import Daemon

PEERS_MINE = (109, 306)
PEERS_REMINE = (3.1, 8.3)
PEERS_SEARCH = (2.3, 17.7)
"""CPU seconds of other memory servers on this work: least and most."""

WORDS = ("queryset", "parse config", "import", "middleware response", "class", "translation of plural forms")


def main() -> None:
    """Runs every benchmark once in a directory that is removed afterwards."""
    print(f"load at start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    with tempfile.TemporaryDirectory() as scratch:
        home, files = Path(scratch) / "home", Path(scratch) / "corpus"
        size = copy_corpus(files)
        print(f"corpus: 1000 files, {size / 1e6:.2f} MB")
        daemon = Daemon(home)
        try:
            _start(daemon, "start, empty palace")
            _mine(daemon, files)
            _search(daemon)
            _many(daemon)
            print(f"resident memory after the work     {memory_of(_pid(daemon)):7.0f} MB")
            began = time.perf_counter()
            daemon.stop()
            print(f"stop                               {time.perf_counter() - began:7.2f} s wall")
            _start(daemon, "start, the same palace")
            print(f"resident memory after a restart    {memory_of(_pid(daemon)):7.0f} MB")
            disk = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
            print(f"disk                               {disk / 1e6:7.0f} MB")
        finally:
            if daemon.process is not None:
                daemon.stop()


def _pid(daemon: Daemon) -> int:
    assert daemon.process is not None
    return daemon.process.pid


def _line(what: str, cost: Cost, peers: tuple[float, float] | None = None) -> None:
    beside = (
        f"   peers {peers[0]} to {peers[1]} CPU s, {peers[0] / cost.cpu:.0f} to {peers[1] / cost.cpu:.0f} times"
        if peers
        else ""
    )
    print(f"{what:34} {cost}{beside}")


def _start(daemon: Daemon, what: str) -> None:
    began = time.perf_counter()
    daemon.start()
    daemon.get("/api/search?q=anything")
    cost = Cost(wall=time.perf_counter() - began, load=os.getloadavg()[0])
    from tests.benchmarks.meter import cpu_of

    cost.cpu = cpu_of(_pid(daemon))
    _line(f"{what}, to first search", cost)


def _mine(daemon: Daemon, files: Path) -> None:
    with measured(_pid(daemon)) as cost:
        job = daemon.mine(files, wing="corpus")
        assert daemon.get("/api/search?q=queryset")
    _line("mine, stored and searchable", cost, PEERS_MINE)
    _check(job, "filed", 1000)
    with measured(_pid(daemon)) as cost:
        job = daemon.mine(files, wing="corpus")
    _line("mine again, unchanged", cost, PEERS_REMINE)
    _check(job, "unchanged", 1000)


def _check(job: dict[str, Any], key: str, expected: int) -> None:
    if job["status"] != "completed" or job["result"][key] != expected:
        raise SystemExit(f"the mine went wrong: {json.dumps(job, indent=2)}")


def _search(daemon: Daemon) -> None:
    daemon.manage("search", "warm")
    with measured() as cost:
        for word in WORDS:
            daemon.manage("search", word)
    _line("one search from the shell", Cost(cost.cpu / len(WORDS), cost.wall / len(WORDS), cost.load), PEERS_SEARCH)


def _many(daemon: Daemon) -> None:
    for word in WORDS:
        times = []
        for _ in range(20):
            began = time.perf_counter()
            daemon.get("/api/search?limit=10&q=" + word.replace(" ", "+"))
            times.append((time.perf_counter() - began) * 1000)
        print(f"search over REST {word!r:32} p50 {statistics.median(times):6.1f} ms   worst {max(times):6.1f} ms")


if __name__ == "__main__":
    main()
