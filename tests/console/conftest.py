from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.support import FakeDaemon, Shell


@pytest.fixture
def daemon() -> Iterator[FakeDaemon]:
    fake = FakeDaemon()
    yield fake
    fake.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def shell(daemon: FakeDaemon, home: Path) -> Shell:
    """A shell whose configuration points at the fake daemon."""
    return Shell({"HOME": str(home), "TERM": "xterm", "MEMCASTLE_PORT": str(daemon.port)})
