from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.remote.support import Host, hosting
from tests.support import running_daemon


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A host that is up for all tests; each uses names, or a database, of its own."""
    with running_daemon(tmp_path_factory.mktemp("host") / "home") as daemon:
        yield hosting(daemon)
