from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rest.support import Route, Wire, faults_in_log, routes
from tests.support import Daemon, running_daemon


@pytest.fixture(scope="session")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """The daemon of these tests, with one worker so that jobs queue up. It must never fail at a request."""
    with running_daemon(tmp_path_factory.mktemp("rest") / "home", MEMCASTLE_JOBS_MAX_CONCURRENCY="1") as running:
        yield running
        assert faults_in_log(running) == []


@pytest.fixture(scope="session")
def every_route(rest: Daemon) -> list[Route]:
    found = routes(rest)
    assert len(found) > 25
    return found


@pytest.fixture
def wire(rest: Daemon) -> Iterator[Wire]:
    connection = Wire(rest)
    yield connection
    connection.close()
