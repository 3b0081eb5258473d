"""A mined directory that may not be read any more is no empty directory: the job fails and everything stays."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT, Daemon

ORDINARY_USER = "nobody"


@pytest.fixture
def ordinary() -> Iterator[Daemon]:
    """A daemon without the rights of root, whom no permission stops, in a home of its own."""
    user = ORDINARY_USER if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory) / "home"
        home.mkdir()
        if user is not None:
            Path(directory).chmod(0o755)
            command = [sys.executable, "-c", "import memcastle_site.conf"]
            if subprocess.run(command, cwd=ROOT, user=user, capture_output=True, check=False).returncode != 0:
                pytest.skip(f"{user} may not read this checkout")
            give(home, user)
        daemon = Daemon(home, user=user)
        try:
            yield daemon.start()
        finally:
            if daemon.process is not None:
                daemon.stop()


def give(path: Path, user: str | None) -> None:
    if user is not None:
        import shutil

        shutil.chown(path, user)


def test_an_unreadable_root_fails_the_job_and_deletes_nothing(ordinary: Daemon) -> None:
    root = ordinary.home / "tree"
    inner = root / "inner"
    inner.mkdir(parents=True)
    files = [root / "a.txt", root / "b.txt", inner / "c.txt"]
    for file in files:
        file.write_text(f"the words of {file.name}\n")
    for path in (root, inner, *files):
        give(path, ordinary.user)
    assert ordinary.mine(root)["result"]["created"] == 3

    root.chmod(0o000)
    failed = ordinary.mine(root)
    assert failed["status"] == "failed"
    assert str(root) in failed["error"]
    assert len(ordinary.get("/api/search?q=words")) == 3
    root.chmod(0o755)

    inner.chmod(0o000)
    files[0].chmod(0o000)
    files[0].with_name("new.txt").write_text("new words\n")
    result = ordinary.mine(root)["result"]
    # a.txt is listed and unchanged, so it need not be opened; c.txt is out of sight.
    assert (result["created"], result["unchanged"], result["retired"]) == (1, 2, 0)
    assert (result["missing_examples"], result["skipped_by_reason"]) == (["inner/c.txt"], {"unreadable": 1})
    os.utime(files[0], (0, 0))
    result = ordinary.mine(root)["result"]
    assert {example["path"] for example in result["skipped_examples"]} == {"a.txt", "inner/"}
    assert len(ordinary.get("/api/search?q=words")) == 4

    inner.chmod(0o755)
    files[0].chmod(0o644)
    result = ordinary.mine(root)["result"]
    assert (result["created"], result["unchanged"], result["missing"], result["skipped"]) == (0, 4, 0, 0)
