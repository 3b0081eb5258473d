"""Runs a command with a disk that hangs at some files. Use: python hanging_disk.py python manage.py COMMAND…

What a broken network mount, a source in an endless loop or a slow parser does to a mine, without one: reading a file
whose name holds `asleep` sleeps in a system call for ten minutes, one that holds `busy` computes for as long, and
`patterns` does so in C code that keeps the interpreter lock, a moment at a time. `locked` waits in a system call until
the lock on the file is released. Beside the directory of the file a mark says that somebody has got that far.
"""

from __future__ import annotations

import fcntl
import os
import re
import runpy
import sys
import time
from pathlib import Path
from typing import Any

SECONDS = 600.0


def mark_of(path: Path) -> Path:
    """What exists as soon as a read of that file hangs."""
    return path.parent.with_name(f"{path.parent.name} {path.name}.reached")


def main() -> None:
    script = sys.argv[2]
    sys.argv = sys.argv[2:]
    sys.path.insert(0, str(Path(script).parent))
    from mining.adapters import directory

    real = directory.read_regular

    def hanging(path: str, *arguments: Any, **options: Any) -> Any:
        if any(way in os.path.basename(path) for way in ("asleep", "busy", "patterns", "locked")):
            mark_of(Path(path)).touch()
        if "asleep" in path:
            time.sleep(SECONDS)
        until = time.monotonic() + SECONDS
        while "busy" in path and time.monotonic() < until:
            pass
        while "patterns" in os.path.basename(path) and time.monotonic() < until:
            re.match(r"(a+)+$", "a" * 18 + "b")
        if "locked" in os.path.basename(path):
            with open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
        return real(path, *arguments, **options)

    directory.read_regular = hanging  # type: ignore[attr-defined]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
