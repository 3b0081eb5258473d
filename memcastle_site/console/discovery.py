"""Finds the daemon of a palace: its live registry file first, then the configured address."""

from __future__ import annotations

import os
from pathlib import Path

from memcastle_site.conf import AuthConfig, Loaded, PalaceConfig, ServerConfig
from memcastle_site.console.client import DaemonClient, Endpoint, route
from memcastle_site.daemon import registry
from memcastle_site.daemon.registry import Found
from memcastle_site.errors import ClientNotRunning
from palace.domain.modes import MemoryMode

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def find(loaded: Loaded) -> Found:
    """What the registry file of the resolved palace says. Raises FileFailed when it may not be read."""
    return registry.read(registry_file(loaded))


def registry_file(loaded: Loaded) -> Path:
    """The registry file of the resolved palace."""
    return registry.registry_path(loaded.places.state, palace_path(loaded))


def palace_path(loaded: Loaded) -> Path:
    """The palace directory that the configuration resolves to."""
    return loaded.section(PalaceConfig).path


def locate(loaded: Loaded) -> Endpoint:
    """Where to dial. Nothing is asked of the network here."""
    found = find(loaded)
    if found.state == "live" and found.registration is not None:
        host, port = found.registration.address
        return Endpoint(_dialled(host), port, "registry")
    server = loaded.section(ServerConfig)
    return Endpoint(_dialled(server.bind), server.port, "config")


def connect(loaded: Loaded, mode: MemoryMode | None = None) -> DaemonClient:
    """A client of the palace's daemon.

    A palace that was chosen by path is never mistaken for the one whose daemon happens to listen at the configured
    address: raises ClientNotRunning when a daemon there serves another palace.
    """
    endpoint = locate(loaded)
    if endpoint.port == 0:
        raise ClientNotRunning("no daemon of this palace is registered, and the configured port 0 names no address")
    client = DaemonClient(endpoint, token=loaded.section(AuthConfig).token, mode=mode)
    if endpoint.source == "config" and _chosen(loaded):
        _require_same_palace(client, palace_path(loaded))
    return client


def _chosen(loaded: Loaded) -> bool:
    """Whether the palace is another than the default one."""
    data = loaded.places.data
    return data is None or palace_path(loaded) != data / "default"


def _require_same_palace(client: DaemonClient, palace: Path) -> None:
    answer = client.exchange("GET", route("status"))
    served = answer.body.get("palace_path") if answer.ok and isinstance(answer.body, dict) else None
    if isinstance(served, str) and os.path.realpath(served) != os.path.realpath(palace):
        raise ClientNotRunning(
            f"no daemon serves the palace {palace}; the one at {client.endpoint.url} serves {served}",
            help="Start one for this palace with `python manage.py daemon start --palace PATH --port PORT`.",
        )


def _dialled(host: str) -> str:
    """A wildcard address is listened on, never dialled."""
    return _LOOPBACK.get(host, host)
