"""Clients that vanish, endpoints that close and daemons that stop while queries run: what runs ends, nothing is left."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
import time
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed

from tests.database.support import Client, Endpoint, opened
from tests.support import PATIENCE_SECONDS, Daemon, until

SLOW = "CREATE mark:began; SLEEP 10m; CREATE mark:ended;"


def marks(client: Client) -> list[str]:
    [entry] = client.result("query", "SELECT VALUE record::id(id) FROM mark")
    return list(entry["result"]) if entry["status"] == "OK" else []


def test_a_query_whose_client_vanished_is_interrupted(own_endpoint: Endpoint) -> None:
    with own_endpoint.client("cbor") as watcher, own_endpoint.client("cbor") as client:
        client.send("query", SLOW.replace("10m", "2s"))
        until(lambda: marks(watcher) == ["began"], "the query to begin")
        # Gone without a goodbye, like a process that was killed.
        client.socket.socket.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + 4
        while time.monotonic() < deadline:
            assert marks(watcher) == ["began"]
            time.sleep(0.2)


def test_a_transaction_whose_client_vanished_leaves_nothing(own_endpoint: Endpoint) -> None:
    with own_endpoint.client("cbor") as watcher, own_endpoint.client("cbor") as client:
        watcher.query("DEFINE TABLE mark")
        client.send("query", f"BEGIN; {SLOW} COMMIT;")
        client.socket.socket.shutdown(socket.SHUT_RDWR)
        until(lambda: own_endpoint.daemon.get("/api/health"), "the daemon to answer")
        # The turn to write is free for the daemon.
        assert own_endpoint.daemon.post("/api/wings", {"name": "after"})["name"] == "after"
        assert marks(watcher) == []


def test_closing_the_endpoint_interrupts_queries(own_endpoint: Endpoint) -> None:
    daemon = own_endpoint.daemon
    with ExitStack() as stack:
        clients = [stack.enter_context(own_endpoint.client("cbor")) for _ in range(4)]
        for client in clients:
            client.send("query", SLOW.replace("mark:began", "mark").replace("mark:ended", "mark"))
        assert daemon.request("DELETE", "/api/db").json["running"] is False
        for client in clients:
            with pytest.raises(ConnectionClosed):
                client.receive()
    with opened(daemon).client("cbor") as client:
        assert client.query("RETURN 1") == 1


def test_closing_waits_for_no_deaf_client(own_endpoint: Endpoint) -> None:
    """A client that reads nothing never answers the goodbye."""
    with socket.create_connection(("127.0.0.1", own_endpoint.port)) as deaf:
        deaf.sendall(
            b"GET /rpc HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert deaf.recv(12) == b"HTTP/1.1 101"
        assert own_endpoint.daemon.request("DELETE", "/api/db").json["running"] is False
        # It hears the goodbye and then the end.
        deaf.settimeout(PATIENCE_SECONDS)
        with contextlib.suppress(ConnectionResetError):
            while deaf.recv(4096):
                pass


def test_a_daemon_stops_with_open_connections(daemon: Daemon) -> None:
    endpoint = opened(daemon)
    with ExitStack() as stack:
        idle = stack.enter_context(endpoint.connect("cbor"))
        busy = stack.enter_context(endpoint.client("cbor"))
        busy.send("query", SLOW)
        assert daemon.stop(signal.SIGTERM) == 0
        for connection in (idle, busy.socket):
            with pytest.raises(ConnectionClosed):
                connection.recv(timeout=30)
    log = daemon.log.read_text()
    assert "database endpoint closed" in log
    assert "Traceback" not in log
    daemon.start()
    try:
        assert daemon.get("/api/db")["running"] is False
        with opened(daemon).client("cbor") as client:
            assert "ended" not in marks(client)
    finally:
        daemon.stop()


def test_a_long_transaction_of_a_client_holds_the_daemon_up_for_a_bounded_time(own_endpoint: Endpoint) -> None:
    daemon = own_endpoint.daemon
    with own_endpoint.client("cbor") as client:
        client.send("query", "BEGIN; CREATE mark:long; SLEEP 10m; COMMIT;")
        answered = threading.Event()

        def write() -> None:
            daemon.post("/api/wings", {"name": "meanwhile"})
            answered.set()

        writer = threading.Thread(target=write)
        writer.start()
        assert answered.wait(PATIENCE_SECONDS)
        writer.join()
