"""WebSockets through the front: served, bounded, said goodbye to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.site.serving import Server, eventually, read_all


def websocket(server: Server, path: str) -> ClientConnection:
    return connect(f"ws://127.0.0.1:{server.port}{path}", proxy=None)


def test_messages_go_both_ways(server: Server) -> None:
    with websocket(server, "/talk") as client:
        client.send("hello")
        assert client.recv(timeout=10) == "HELLO"


def test_application_learns_that_the_client_left(server: Server) -> None:
    before = server.state()["disconnected"]
    with websocket(server, "/talk"):
        pass

    eventually(lambda: server.state()["disconnected"] > before)


def test_refused_handshake_is_answered_403(server: Server) -> None:
    with pytest.raises(InvalidStatus) as refused:
        websocket(server, "/refused")

    assert refused.value.response.status_code == 403


def test_application_that_crashes_closes_the_socket(server: Server) -> None:
    with websocket(server, "/crash") as client, pytest.raises(ConnectionClosed) as closed:
        client.recv(timeout=10)

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1011


def test_upgrade_that_is_no_handshake_is_refused_without_harm(server: Server) -> None:
    before = server.log.count("Traceback")
    with server.socket() as sock:
        sock.sendall(b"GET /talk HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        assert read_all(sock).startswith(b"HTTP/1.1 4")

    assert server.get("/hello")[0] == 200
    assert server.log.count("Traceback") == before


def test_client_that_does_not_read_stops_the_application_from_writing(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(
            b"GET /flood HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        eventually(lambda: server.state()["flooded"] > 0)
        seen = [-1]

        def stands_still() -> bool:
            seen.append(server.state()["flooded"])
            return len(seen) > 20 and len(set(seen[-20:])) == 1

        eventually(stands_still)
        assert seen[-1] < 64 * 1024 * 1024


def test_stop_says_goodbye(start_server: Callable[..., Server]) -> None:
    server = start_server()
    with websocket(server, "/talk") as client:
        server.begin_stop()
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=10)

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001
    assert server.ended() == 0


def test_answers_that_come_after_the_goodbye_break_nothing(start_server: Callable[..., Server]) -> None:
    """The client may be told that the daemon stops while its request is being answered."""
    server = start_server(grace=0.5)
    with server.socket() as sock:
        sock.sendall(
            b"GET /chatter HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert sock.recv(4096).startswith(b"HTTP/1.1 101")
        server.begin_stop()
        assert server.ended() == 0
    assert "Traceback" not in server.log


def test_client_that_ignores_the_goodbye_does_not_hold_up_the_stop(start_server: Callable[..., Server]) -> None:
    server = start_server(grace=0.2)
    with server.socket() as sock:
        sock.sendall(
            b"GET /talk HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert sock.recv(4096).startswith(b"HTTP/1.1 101")
        server.begin_stop()

        assert server.ended() == 0
