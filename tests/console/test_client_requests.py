"""What the client sends, and what it makes of every kind of answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from memcastle_site.console import client as client_module
from memcastle_site.console.client import DaemonClient, Endpoint, route
from memcastle_site.errors import ClientNotRunning, ClientRemoteRejected, ClientRequestFailed
from palace.domain.modes import MemoryMode
from palace.errors import InvalidInput
from tests.console.support import FakeDaemon, error_body


def client_of(daemon: FakeDaemon, **settings: object) -> DaemonClient:
    return DaemonClient(Endpoint("127.0.0.1", daemon.port, "config"), **settings)  # type: ignore[arg-type]


def test_json_travels_both_ways(daemon: FakeDaemon) -> None:
    daemon.on("POST /api/wings", (201, {"created": True, "name": "Ünïcode"}))
    answer = client_of(daemon).post(route("wings"), {"name": "Ünïcode"})
    assert answer == {"created": True, "name": "Ünïcode"}
    request = daemon.requests[0]
    assert request.body == {"name": "Ünïcode"}
    assert request.headers["Content-Type"] == "application/json"


def test_token_and_mode_are_sent_only_when_given(daemon: FakeDaemon) -> None:
    daemon.on("GET /api/jobs", [])
    client_of(daemon).get(route("jobs"))
    client_of(daemon, token="a-token-of-length", mode=MemoryMode.READ_ONLY).get(route("jobs"))
    plain, full = (request.headers for request in daemon.requests)
    assert "Authorization" not in plain
    assert "X-MemCastle-Mode" not in plain
    assert full["Authorization"] == "Bearer a-token-of-length"
    assert full["X-MemCastle-Mode"] == "read_only"


@pytest.mark.parametrize(
    ("segment", "encoded"),
    [
        ("a b", "a%20b"),
        ("50%", "50%25"),
        ("why?", "why%3F"),
        ("c#", "c%23"),
        ("a/b", "a%2Fb"),
        ("图", "%E5%9B%BE"),
        ("-home-me-app", "-home-me-app"),
        ("a;b=c&d+e", "a%3Bb%3Dc%26d%2Be"),
    ],
)
def test_a_segment_of_a_path_is_percent_encoded(segment: str, encoded: str) -> None:
    assert route("wings", segment) == f"/api/wings/{encoded}"


def test_query_leaves_out_what_is_absent_and_encodes_the_rest(daemon: FakeDaemon) -> None:
    daemon.on("GET /api/search", [])
    client_of(daemon).get(
        route("search"), {"q": "a&b=ü +", "limit": 0, "wing": None, "expand": True, "include_historical": False}
    )
    assert daemon.requests[0].query == {"q": ["a&b=ü +"], "limit": ["0"], "expand": ["true"]}


def test_text_that_is_not_unicode_is_refused_before_anything_is_sent(daemon: FakeDaemon) -> None:
    with pytest.raises(InvalidInput):
        client_of(daemon).get(route("search"), {"q": "\udcff"})
    with pytest.raises(InvalidInput):
        client_of(daemon).post(route("wings"), {"name": "\udcff"})
    with pytest.raises(InvalidInput):
        route("wings", "\udcff")
    assert daemon.requests == []


def test_connection_refused_means_not_running(unused_port: int) -> None:
    with pytest.raises(ClientNotRunning, match=f"127.0.0.1:{unused_port}"):
        DaemonClient(Endpoint("127.0.0.1", unused_port, "config")).get(route("status"))


def test_error_answer_shows_status_code_message_and_help(daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings/x", (404, error_body("memcastle::palace::wing_not_found", "no wing 'x'", "List the wings.")))
    with pytest.raises(ClientRemoteRejected) as caught:
        client_of(daemon).get(route("wings", "x"))
    assert caught.value.message == "the daemon refused (HTTP 404, memcastle::palace::wing_not_found): no wing 'x'"
    assert caught.value.help == "List the wings."


@pytest.mark.parametrize(
    "reply",
    [(200, b"<html>"), (502, b"<html>Bad gateway</html>"), (200, b""), (500, {"detail": "?"}), (302, []), (200, b"\xff")],
)
def test_answers_of_a_stranger_are_request_failures(daemon: FakeDaemon, reply: tuple[int, object]) -> None:
    daemon.on("GET /api/wings", reply)
    with pytest.raises(ClientRequestFailed):
        client_of(daemon).get(route("wings"))


def test_silence_and_a_broken_answer_are_request_failures() -> None:
    def cut_off(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[")

    def hang(connection: socket.socket) -> None:
        released.wait(10)

    released = threading.Event()
    for behaviour in (hang, cut_off, lambda connection: connection.sendall(b"SSH-2.0-x\r\n"), lambda connection: None):
        port, thread = _serve_once(behaviour)
        with pytest.raises(ClientRequestFailed) as caught:
            DaemonClient(Endpoint("127.0.0.1", port, "config")).exchange("GET", route("health"), timeout=0.2)
        assert str(port) in caught.value.message
        released.set()
        thread.join()


def test_the_answer_may_take_longer_than_the_connection(daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "CONNECT_SECONDS", 0.05)
    waited = threading.Event()

    def slow(request: object) -> tuple[int, object]:
        waited.wait(0.2)
        return 200, []

    daemon.replies["GET /api/wings"] = slow
    assert client_of(daemon).get(route("wings")) == []


def test_ipv6_addresses_are_bracketed_in_urls() -> None:
    assert Endpoint("::1", 8420, "config").url == "http://[::1]:8420"


def _serve_once(behaviour: Callable[[socket.socket], object]) -> tuple[int, threading.Thread]:
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener, listener.accept()[0] as connection:
            behaviour(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    return int(listener.getsockname()[1]), thread


@pytest.fixture
def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
