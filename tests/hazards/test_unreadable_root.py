"""A mined directory that may not be read any more is no empty directory: the job fails and everything stays."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import Daemon

WITHOUT_PRIVILEGES = (
    sys.executable,
    "-c",
    """
import ctypes, os, sys
drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2
for capability in (dac_override, dac_read_search):
    ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
""",
)
"""No permission stops root; without these two capabilities it is stopped like anybody."""


@pytest.fixture
def ordinary(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon that file permissions apply to, whoever runs the test."""
    daemon = Daemon(tmp_path / "home", wrapper=WITHOUT_PRIVILEGES)
    try:
        yield daemon.start()
    finally:
        if daemon.process is not None:
            daemon.stop()


def test_an_unreadable_root_fails_the_job_and_deletes_nothing(ordinary: Daemon) -> None:
    root = ordinary.home / "tree"
    inner = root / "inner"
    inner.mkdir(parents=True)
    files = [root / "a.txt", root / "b.txt", inner / "c.txt"]
    for file in files:
        file.write_text(f"the words of {file.name}\n")
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
