"""Processor seconds, wall seconds and memory of other processes."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Cost:
    """What something took. `load` is the machine's load average beside it: wall seconds mean little under load."""

    cpu: float = 0.0
    wall: float = 0.0
    load: float = 0.0

    def __str__(self) -> str:
        return f"{self.cpu:7.2f} CPU s {self.wall:7.2f} s wall   load {self.load:.1f}"


def cpu_of(pid: int) -> float:
    """User and system seconds of a living process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_of(pid: int) -> float:
    """Resident memory of a living process, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} has no memory figure")


@contextmanager
def measured(pid: int | None = None) -> Iterator[Cost]:
    """Cost of the block: of the living process `pid` and of the child processes that the block waited for."""
    cost = Cost()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    began, cpu = time.perf_counter(), cpu_of(pid) if pid else 0.0
    yield cost
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost.wall = time.perf_counter() - began
    cost.cpu = (cpu_of(pid) - cpu if pid else 0.0) + sum(
        (after.ru_utime - children.ru_utime, after.ru_stime - children.ru_stime)
    )
    cost.load = os.getloadavg()[0]
