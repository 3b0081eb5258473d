"""Fixtures of the serving half."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.site.serving import Server


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers, with a grace in seconds, that are gone after the test."""
    started: list[Server] = []

    def start(grace: float = 20.0) -> Server:
        started.append(Server(tmp_path / f"stderr-{len(started)}", grace))
        return started[-1]

    yield start
    for server in started:
        server.discard()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for tests that leave it running."""
    running = Server(tmp_path_factory.mktemp("server") / "stderr", 20.0)
    yield running
    running.discard()
