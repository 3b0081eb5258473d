"""Opening and closing: what the routes answer, in which order they decide."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from memcastle_site.conf import load
from palace import store
from palace.errors import ConfigInvalid, InvalidInput
from tests.database.support import TOKEN, Endpoint, opened
from tests.support import Answer, Daemon, running_daemon

CLOSED = {
    "running": False,
    "addr": None,
    "url": None,
    "namespace": "memcastle",
    "database": "palace",
    "user": "memcastle",
    "remote": False,
    "auth_required": False,
    "started_at": None,
    "already_running": False,
}


def refused(answer: Answer, status: int, code: str) -> None:
    assert answer.status == status, answer
    assert answer.json["code"] == f"memcastle::{code}"
    assert answer.json["help"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_closed_until_asked_for_and_closed_again(daemon: Daemon) -> None:
    assert daemon.get("/api/db") == CLOSED
    assert daemon.request("DELETE", "/api/db").json == CLOSED
    status = daemon.post("/api/db", {"port": 0})
    addr = status["addr"]
    assert status == {**CLOSED, "running": True, "addr": addr, "url": f"ws://{addr}", "started_at": status["started_at"]}
    assert daemon.get("/api/db") == status
    endpoint = Endpoint(daemon, int(addr.rpartition(":")[2]))
    with endpoint.connect("cbor") as connection:
        assert daemon.request("DELETE", "/api/db").json == CLOSED
        with pytest.raises(ConnectionClosed) as closed:
            connection.recv(timeout=30)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1001
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", endpoint.port), timeout=5)
    # The port is free at once.
    assert daemon.post("/api/db", {"port": endpoint.port})["addr"] == addr


def test_asked_again(daemon: Daemon) -> None:
    first = opened(daemon, allowed_origins=["https://studio.example"])
    for compatible in (
        {},
        {"port": 0},
        {"port": first.port, "bind": "127.0.0.1"},
        {"allow_remote": True},
        {"allowed_origins": ["HTTPS://studio.example/"]},
    ):
        assert daemon.post("/api/db", compatible)["already_running"] is True, compatible
    assert daemon.post("/api/db")["already_running"] is True
    for other in ({"port": free_port()}, {"bind": "127.0.0.2"}, {"bind": "0.0.0.0"}, {"allowed_origins": ["app://x"]}):
        refused(daemon.request("POST", "/api/db", other), 409, "db::already_running")
    assert daemon.get("/api/db")["already_running"] is False


def test_taken_address(daemon: Daemon) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        refused(daemon.request("POST", "/api/db", {"port": holder.getsockname()[1]}), 409, "db::bind_failed")
    refused(daemon.request("POST", "/api/db", {"port": daemon.port}), 409, "db::bind_failed")
    assert daemon.get("/api/db") == CLOSED
    opened(daemon)


@pytest.mark.parametrize(
    "body",
    [
        {"bind": "localhost"},
        {"bind": ""},
        {"bind": 5},
        {"port": -1},
        {"port": 65_536},
        {"port": "8000"},
        {"port": True},
        {"allow_remote": "yes"},
        {"allowed_origins": "app://x"},
        {"allowed_origins": [" "]},
        [],
        5,
    ],
)
def test_bodies_that_are_not_accepted(shared_daemon: Daemon, body: Any) -> None:
    refused(shared_daemon.request("POST", "/api/db", body), 400, "input::invalid")
    assert shared_daemon.get("/api/db")["running"] is False


def test_beyond_loopback_needs_the_opt_in_and_authentication(daemon: Daemon, tmp_path: Path) -> None:
    for body in ({"bind": "0.0.0.0"}, {"bind": "::"}, {"bind": "0.0.0.0", "allow_remote": True}):
        refused(daemon.request("POST", "/api/db", {**body, "port": 0}), 400, "db::unsafe_bind")
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    settings = {"MEMCASTLE_AUTH_ENABLED": "true", "MEMCASTLE_AUTH_TOKEN": TOKEN}
    with running_daemon(tmp_path / "guarded", **settings) as guarded:
        refused(guarded.request("POST", "/api/db", {"bind": "0.0.0.0", "port": 0}, headers=bearer), 400, "db::unsafe_bind")
        status = guarded.post("/api/db", {"bind": "0.0.0.0", "port": 0, "allow_remote": True}, headers=bearer)
        assert (status["remote"], status["auth_required"]) == (True, True)
        assert "beyond loopback" in guarded.log.read_text()


def test_the_configuration_fills_in_what_is_left_out(tmp_path: Path) -> None:
    with running_daemon(tmp_path / "home", MEMCASTLE_DB_BIND="127.0.0.2") as daemon:
        assert daemon.post("/api/db")["addr"].startswith("127.0.0.2:")


def test_both_ports_may_be_the_same_while_the_endpoint_is_closed() -> None:
    load({}, {"HOME": "/nonexistent", "MEMCASTLE_PORT": "8000", "MEMCASTLE_DB_PORT": "8000"})


def test_configured_address_beyond_loopback_needs_the_opt_in() -> None:
    with pytest.raises(ConfigInvalid, match=r"db\.bind"):
        load({}, {"HOME": "/nonexistent", "MEMCASTLE_DB_BIND": "0.0.0.0"})
    load({}, {"HOME": "/nonexistent", "MEMCASTLE_DB_BIND": "0.0.0.0", "MEMCASTLE_DB_ALLOW_REMOTE": "true"})


async def test_a_palace_on_a_remote_database_has_none(palace: store.Store) -> None:
    from memcastle_site import services
    from memcastle_site.errors import DatabaseUnavailable

    palace.backend = "remote"
    for opening in (services.Opening(), services.Opening(bind="0.0.0.0")):
        with pytest.raises(DatabaseUnavailable):
            await services.open_database(opening)
    with pytest.raises(InvalidInput):
        await services.open_database(services.Opening(bind="nonsense"))
    assert services.database_status()["running"] is False
    palace.backend = "embedded"


def test_opening_and_closing_leaks_no_descriptor_and_no_thread(daemon: Daemon) -> None:
    assert daemon.process is not None
    process = Path(f"/proc/{daemon.process.pid}")

    def held() -> tuple[int, int]:
        return len(list((process / "fd").iterdir())), len(list((process / "task").iterdir()))

    def once() -> None:
        with opened(daemon).client("cbor") as client:
            client.query("RETURN 1")
        assert daemon.request("DELETE", "/api/db").json == CLOSED

    for _ in range(3):
        once()
    before = held()
    for _ in range(25):
        once()
    after = held()
    assert after[0] - before[0] <= 2
    assert after[1] - before[1] <= 2
