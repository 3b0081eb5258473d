"""What the event stream costs: how late an event is, and what three hundred readers do to a mine."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks.meter import measured, memory_of
from tests.events.support import Stream
from tests.support import Daemon

READERS = 300
FILES = 3000
WRITES = 200


def main() -> None:
    """Runs both benchmarks with a daemon of their own."""
    with tempfile.TemporaryDirectory() as scratch:
        daemon = Daemon(Path(scratch) / "home", {"MEMCASTLE_MINING_MAX_DOCUMENTS": str(FILES)})
        try:
            daemon.start()
            latency(daemon)
            crowd(daemon, Path(scratch))
        finally:
            if daemon.process is not None:
                daemon.stop()


def latency(daemon: Daemon) -> None:
    """Milliseconds between the answer to a write, which follows its commit, and the event of it."""
    stream = Stream.open(daemon, "?kinds=drawer")
    late = []
    for number in range(WRITES):
        daemon.post("/api/wings/w/rooms/r/drawers", {"content": f"text {number}"})
        answered = time.perf_counter()
        stream.next()
        late.append((time.perf_counter() - answered) * 1000)
        time.sleep(0.01)
    stream.close()
    ordered = sorted(late)
    print(
        f"event after the answer to its write   p50 {statistics.median(late):6.1f} ms   "
        f"p99 {ordered[int(len(ordered) * 0.99)]:6.1f} ms   worst {ordered[-1]:6.1f} ms"
    )


def crowd(daemon: Daemon, scratch: Path) -> None:
    """The same mine without and with readers, twice each; the readers' own process shares the processors.

    A mine costs a little more the more there is in the palace, so the turns are alone, watched, watched, alone.
    """
    _mine(daemon, _files(scratch / "warm"))
    assert daemon.process is not None
    alone = [_mine(daemon, _files(scratch / "alone1"))]
    before = memory_of(daemon.process.pid)
    with _readers(daemon) as report:
        opened = memory_of(daemon.process.pid)
        watched = [_mine(daemon, _files(scratch / f"watched{turn}")) for turn in range(2)]
        time.sleep(1)
    alone.append(_mine(daemon, _files(scratch / "alone2")))
    wall = sum(cost.wall for cost in watched) / sum(cost.wall for cost in alone)
    cpu = sum(cost.cpu for cost in watched) / sum(cost.cpu for cost in alone)
    wanted = 2 * FILES
    missing = sum(wanted - seen for seen in report["counts"])
    print(f"memory of {READERS} streams               {(opened - before) / READERS * 1024:6.0f} KB each")
    print(f"mine of {FILES} files alone              {alone[-1]}")
    print(f"the same with {READERS} readers            {watched[-1]}   readers {report['cpu']:.2f} CPU s")
    print(f"ratio with readers to alone            wall {wall:.2f}   CPU of the daemon {cpu:.2f}")
    print(f"events missing                         {missing} of {wanted * READERS}, resyncs {report['resyncs']}")


def _files(directory: Path) -> Path:
    directory.mkdir()
    for number in range(FILES):
        (directory / f"{number}.txt").write_text(
            f"note {number} of {directory.name}: the quick fox met {number * 7} dogs\n" * 5
        )
    return directory


def _mine(daemon: Daemon, files: Path) -> Any:
    assert daemon.process is not None
    with measured(daemon.process.pid) as cost:
        job = daemon.mine(files)
    assert (job["status"], job["result"]["filed"]) == ("completed", FILES), job
    return cost


@contextmanager
def _readers(daemon: Daemon) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.benchmarks.crowd", str(daemon.port), str(READERS)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == "ready\n"
    report: dict[str, Any] = {}
    yield report
    process.stdin.close()
    report |= json.loads(process.stdout.read())
    process.wait()


if __name__ == "__main__":
    main()
