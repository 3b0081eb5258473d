"""A reproducible corpus: real source files that every installation has."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

ENDINGS = (".py", ".txt", ".html", ".md")
SMALLEST, LARGEST = 200, 20_000


def source_files(count: int) -> list[Path]:
    """The first `count` text files of 200 bytes to 20 KB among the installed packages, Django's first, in path order."""
    packages = Path(sysconfig.get_paths()["purelib"])
    found: dict[Path, None] = {}
    for root in (packages / "django", packages):
        for path in sorted(root.rglob("*")):
            if path.suffix in ENDINGS and path.is_file() and SMALLEST <= path.stat().st_size <= LARGEST:
                found.setdefault(path)
                if len(found) == count:
                    return list(found)
    raise RuntimeError(f"only {len(found)} of {count} files were found")


def copy_corpus(target: Path, count: int = 1000) -> int:
    """Copies the corpus below `target` and returns its size in bytes."""
    packages = Path(sysconfig.get_paths()["purelib"])
    size = 0
    for path in source_files(count):
        copy = target / path.relative_to(packages)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        size += path.stat().st_size
    return size
