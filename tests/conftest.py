"""Fixtures that every app's tests share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from memcastle_site.schema_files import definitions
from palace import store
from palace.store import Store, open_embedded
from palace.store.migrations import migrate
from tests.support import Daemon, running_daemon


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """A command that is run in this process with -v must not make later tests talkative."""
    logger = logging.getLogger("memcastle")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture
async def palace(tmp_path: Path) -> AsyncIterator[Store]:
    """A new, real palace that is the palace of this process."""
    opened = await open_embedded(tmp_path / "palace" / "db")
    store.install(opened)
    await migrate(opened, definitions())
    yield opened
    store.install(None)
    await opened.close()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon of this test alone."""
    with running_daemon(tmp_path / "home") as running:
        yield running


@pytest.fixture(scope="session")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for tests that only read, or that write under names of their own."""
    with running_daemon(tmp_path_factory.mktemp("shared") / "home") as running:
        yield running
