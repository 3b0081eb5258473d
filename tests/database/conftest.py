from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.database.support import TOKEN, Client, Endpoint, opened
from tests.support import Daemon, running_daemon

PACKAGE = Path(__file__).parent / "node" / "package.json"
INSTALL_SECONDS = 300


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """An open endpoint of a daemon without authentication."""
    with running_daemon(tmp_path_factory.mktemp("database") / "home", MEMCASTLE_LOG="debug") as daemon:
        yield opened(daemon)


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """An open endpoint of a daemon that wants a token."""
    settings = {"MEMCASTLE_LOG": "trace", "MEMCASTLE_AUTH_ENABLED": "true", "MEMCASTLE_AUTH_TOKEN": TOKEN}
    with running_daemon(tmp_path_factory.mktemp("guarded") / "home", **settings) as daemon:
        yield opened(daemon, headers={"Authorization": f"Bearer {TOKEN}"})


@pytest.fixture
def own_endpoint(daemon: Daemon) -> Endpoint:
    """An open endpoint of this test alone."""
    return opened(daemon)


@pytest.fixture
def client(endpoint: Endpoint) -> Iterator[Client]:
    """A client that speaks CBOR."""
    with endpoint.client("cbor") as connected:
        yield connected


@pytest.fixture
def json_client(endpoint: Endpoint) -> Iterator[Client]:
    with endpoint.client("json") as connected:
        yield connected


@pytest.fixture(scope="session")
def node_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which Node.js finds SurrealDB's SDK for JavaScript. Without Node.js there is nothing to test."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("Node.js is not installed")
    directory = tmp_path_factory.mktemp("node")
    shutil.copy(PACKAGE, directory)
    subprocess.run(
        ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"],
        cwd=directory,
        check=True,
        timeout=INSTALL_SECONDS,
        stdout=subprocess.DEVNULL,
    )
    return directory
