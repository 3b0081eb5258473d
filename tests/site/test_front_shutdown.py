"""How the front stops: requests finish, nobody is waited for longer than the grace, every socket is closed."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.site.serving import Server, eventually, read_all

Start = Callable[..., Server]


def test_request_in_progress_is_answered_before_the_end(start_server: Start) -> None:
    server = start_server()
    other = server.connection()
    other.connect()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.get, "/wait")
        eventually(lambda: server.state()["waiting"] == 1)
        server.begin_stop()
        other.request("GET", "/release")
        assert other.getresponse().status == 200
        other.close()

        assert waiting.result() == (200, {"waited": True})
    assert server.ended() == 0


def test_answers_during_the_stop_tell_the_client_to_close(start_server: Start) -> None:
    server = start_server()
    open_connection = server.connection()
    open_connection.connect()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(server.get, "/wait")
        eventually(lambda: server.state()["waiting"] == 1)
        server.begin_stop()
        open_connection.request("GET", "/release")
        response = open_connection.getresponse()
        response.read()
    open_connection.close()

    assert response.headers["connection"] == "close"


def test_idle_and_half_sent_connections_do_not_delay_the_stop(start_server: Start) -> None:
    server = start_server(grace=1000.0)
    kept_alive = server.socket()
    kept_alive.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    kept_alive.recv(4096)
    untouched = server.socket()
    half_sent = server.socket()
    half_sent.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")
    server.begin_stop()

    assert server.ended() == 0
    for sock in (kept_alive, untouched, half_sent):
        assert read_all(sock) == b""
        sock.close()


def test_request_still_running_when_the_grace_ends_gets_503(start_server: Start) -> None:
    server = start_server(grace=0.2)
    connection = server.connection()
    connection.request("GET", "/wait")
    eventually(lambda: server.state()["waiting"] == 1)
    server.begin_stop()
    response = connection.getresponse()
    error = json.loads(response.read())
    connection.close()

    assert response.status == 503
    # Not the code of a daemon that refuses what it has not begun: this request may have done something.
    assert error["code"] == "memcastle::server::interrupted"
    assert server.ended() == 0


def test_answer_begun_before_the_grace_ends_is_cut_off_not_completed(start_server: Start) -> None:
    server = start_server(grace=0.2)
    with server.socket() as sock:
        sock.sendall(b"GET /begin-and-wait HTTP/1.1\r\nHost: x\r\n\r\n")
        eventually(lambda: server.state()["waiting"] == 1)
        server.begin_stop()
        answer = read_all(sock)

    assert b"0\r\n\r\n" not in answer
    assert server.ended() == 0


def test_client_that_never_reads_does_not_hold_up_the_stop(start_server: Start) -> None:
    server = start_server(grace=0.2)
    with server.socket() as sock:
        sock.sendall(b"GET /flood HTTP/1.1\r\nHost: x\r\n\r\n")
        eventually(lambda: server.state()["flooded"] > 0)
        server.begin_stop()

        assert server.ended() == 0


def test_stop_leaves_no_complaint_in_the_log(start_server: Start) -> None:
    server = start_server(grace=0.2)
    for path in ("/hello", "/echo", "/missing"):
        server.get(path)
    stream = server.connection()
    stream.request("GET", "/stream")
    assert stream.getresponse().status == 200
    server.begin_stop()
    server.ended()
    stream.close()

    lines = [line.split(maxsplit=3)[1:] for line in server.log.splitlines()]
    assert lines == [["warn", "memcastle.front", "requests cancelled requests=1"], ["info", "memcastle.test", "closed"]]


def test_port_is_free_again_at_once(start_server: Start) -> None:
    server = start_server()
    server.begin_stop()
    server.ended()

    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        connection.connect()
        refused = False
    except ConnectionRefusedError:
        refused = True
    finally:
        connection.close()
    assert refused
