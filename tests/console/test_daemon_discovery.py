"""Where commands look for the daemon of a palace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memcastle_site import conf
from memcastle_site.console.discovery import connect, find, locate, registry_file
from memcastle_site.daemon import registry
from memcastle_site.daemon.registry import Registration
from memcastle_site.errors import ClientNotRunning
from tests.console.support import FakeDaemon

NOBODY = 2**22 + 1
"""A pid beyond what the kernel hands out."""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "MEMCASTLE_PORT": "9999"}


def register(loaded: conf.Loaded, bind_addr: str, pid: int) -> None:
    entry = Registration(pid, bind_addr, "2026-03-01T12:00:00+00:00", "0.1.0", registry.identity_of(pid))
    registry.write(registry_file(loaded), entry)


def test_a_live_registry_file_wins_over_the_configuration(environ: dict[str, str]) -> None:
    loaded = conf.load({}, environ)
    register(loaded, "127.0.0.1:4321", os.getpid())
    endpoint = locate(loaded)
    assert (endpoint.url, endpoint.source) == ("http://127.0.0.1:4321", "registry")


def test_a_stale_registry_file_is_ignored(environ: dict[str, str]) -> None:
    loaded = conf.load({}, environ)
    register(loaded, "127.0.0.1:4321", NOBODY)
    assert find(loaded).state == "stale"
    endpoint = locate(loaded)
    assert (endpoint.url, endpoint.source) == ("http://127.0.0.1:9999", "config")


@pytest.mark.parametrize(
    ("bind", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:9999"),
        ("::", "http://[::1]:9999"),
        ("::1", "http://[::1]:9999"),
        ("10.1.2.3", "http://10.1.2.3:9999"),
    ],
)
def test_a_wildcard_address_is_dialled_on_loopback(environ: dict[str, str], bind: str, url: str) -> None:
    assert locate(conf.load({}, environ | {"MEMCASTLE_BIND": bind})).url == url


def test_a_registered_wildcard_address_is_dialled_on_loopback(environ: dict[str, str]) -> None:
    loaded = conf.load({}, environ)
    register(loaded, "[::]:4321", os.getpid())
    assert locate(loaded).url == "http://[::1]:4321"


def test_another_palace_has_another_registry_file(environ: dict[str, str], tmp_path: Path) -> None:
    register(conf.load({}, environ), "127.0.0.1:4321", os.getpid())
    other = conf.load({"palace.path": str(tmp_path / "other")}, environ)
    assert find(other).state == "absent"


def test_port_zero_without_a_registry_file_is_no_address(environ: dict[str, str]) -> None:
    with pytest.raises(ClientNotRunning):
        connect(conf.load({}, environ | {"MEMCASTLE_PORT": "0"}))


def test_a_chosen_palace_is_never_mistaken_for_the_one_at_the_configured_address(
    daemon: FakeDaemon, environ: dict[str, str], tmp_path: Path
) -> None:
    environ |= {"MEMCASTLE_PORT": str(daemon.port)}
    loaded = conf.load({"palace.path": str(tmp_path / "mine")}, environ)
    daemon.on("GET /api/status", {"palace_path": str(tmp_path / "theirs")})
    with pytest.raises(ClientNotRunning, match="theirs"):
        connect(loaded)
    daemon.on("GET /api/status", {"palace_path": str(tmp_path / "mine")})
    assert connect(loaded).endpoint.port == daemon.port


def test_a_daemon_that_hides_its_palace_is_left_to_answer_for_itself(
    daemon: FakeDaemon, environ: dict[str, str], tmp_path: Path
) -> None:
    environ |= {"MEMCASTLE_PORT": str(daemon.port)}
    daemon.on("GET /api/status", (401, {"error": "missing", "code": "memcastle::auth::unauthorized", "help": None}))
    assert connect(conf.load({"palace.path": str(tmp_path / "mine")}, environ)).endpoint.port == daemon.port
