"""What the front does with requests, good and bad, while it serves."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.site.serving import Server, eventually, read_all


def error_of(answer: bytes) -> dict[str, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower()
    error: dict[str, str] = json.loads(body)
    return error


def test_two_hundred_requests_at_once_are_all_answered(server: Server) -> None:
    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda _: server.get("/hello")[0], range(200)))

    assert answers == [200] * 200


def test_one_connection_serves_many_requests(server: Server) -> None:
    connection = server.connection()
    local = set()
    for _ in range(5):
        connection.request("POST", "/echo", body=b"12345")
        response = connection.getresponse()
        assert json.loads(response.read()) == {"size": 5}
        local.add(connection.sock.getsockname())
    connection.close()

    assert len(local) == 1


def test_pipelined_requests_are_answered_in_order(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /missing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = read_all(sock)

    assert answer.index(b"200 OK") < answer.index(b"404 Not Found")


def test_chunked_body_reaches_the_application_whole(server: Server) -> None:
    connection = server.connection()
    connection.request("POST", "/echo", body=iter([b"a" * 100_000, b"b" * 50_000]), encode_chunked=True)
    response = connection.getresponse()
    size = json.loads(response.read())["size"]
    connection.close()

    assert size == 150_000


def test_head_of_an_event_stream_arrives_before_any_event(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 200")


def test_application_learns_that_its_client_left(server: Server) -> None:
    before = server.state()["disconnected"]
    with server.socket() as sock:
        sock.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        sock.recv(4096)

    eventually(lambda: server.state()["disconnected"] > before)


def test_announced_body_over_the_limit_is_refused_unread(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 67108865\r\n\r\n")
        answer = read_all(sock)

    assert answer.startswith(b"HTTP/1.1 400 ")
    error = error_of(answer)
    assert error["code"] == "memcastle::input::invalid"
    assert error["error"].startswith("body: ")


def test_client_that_sends_its_oversize_body_before_it_reads_still_gets_the_answer(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 70000000\r\n\r\n")
        for _ in range(70):
            sock.sendall(b"x" * 100_000)
        answer = read_all(sock)

    assert error_of(answer)["error"].startswith("body: ")


def test_chunked_body_over_the_limit_is_refused(server: Server) -> None:
    chunk = b"x" * 1_000_000
    with server.socket() as sock:
        sock.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(68):
            sock.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        answer = read_all(sock)

    assert error_of(answer)["error"].startswith("body: ")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x00\x01\x02\x03\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/3.0\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot-hex\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 600 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: a\x0bb\r\n\r\n",
        b"GET /\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /?q=\xa4 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=lambda value: repr(value[:40]),
)
def test_malformed_request_is_answered_with_an_error_body(server: Server, request_bytes: bytes) -> None:
    with server.socket() as sock:
        sock.sendall(request_bytes)
        answer = read_all(sock)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert error_of(answer)["code"] == "memcastle::input::invalid"
    assert server.get("/hello")[0] == 200


def test_nothing_after_a_malformed_request_is_obeyed(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nno colon\r\n\r\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = read_all(sock)

    assert answer.count(b"HTTP/1.1 ") == 1


def test_client_that_leaves_in_the_middle_of_its_head_or_body_disturbs_nobody(server: Server) -> None:
    for part in (b"GET /hel", b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"):
        with server.socket() as sock:
            sock.sendall(part)

    assert server.get("/hello")[0] == 200


@pytest.mark.parametrize("path", ["/crash", "/silent", "/text-headers"])
def test_application_that_fails_before_its_answer_gets_one_from_the_front(server: Server, path: str) -> None:
    status, error = server.get(path)

    assert status == 500
    assert error["code"] == "memcastle::server::failed"
    assert "wanted" not in error["error"]


def test_answer_that_breaks_off_is_cut_so_that_the_client_notices(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"GET /crash-late HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = read_all(sock)

    assert b"0\r\n\r\n" not in answer
    assert "late crash wanted" in server.log


def test_application_can_close_its_connection(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"GET /close HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = read_all(sock)

    assert answer.lower().count(b"connection: close") == 1


def test_client_cannot_move_the_path_the_application_routes_by(server: Server) -> None:
    _, seen = server.get("/hello", **{"Daphne-Root-Path": "/hel"})

    assert seen == {"root_path": "", "path": "/hello"}


def test_client_that_does_not_read_stops_the_application_from_writing(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"GET /flood HTTP/1.1\r\nHost: x\r\n\r\n")
        eventually(lambda: server.state()["flooded"] > 0)
        seen = [-1]

        def stands_still() -> bool:
            now = server.state()["flooded"]
            seen.append(now)
            return len(seen) > 20 and len(set(seen[-20:])) == 1

        eventually(stands_still)
        assert seen[-1] < 64 * 1024 * 1024


def test_application_that_goes_on_sending_to_nobody_does_not_stop_the_others(server: Server) -> None:
    with server.socket() as sock:
        sock.sendall(b"GET /flood HTTP/1.1\r\nHost: x\r\n\r\n")
        sock.recv(4096)

    assert server.get("/hello")[0] == 200


def test_fifty_connections_leave_nothing_behind(server: Server) -> None:
    before = server.state()
    for _ in range(50):
        with server.socket() as sock:
            sock.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
            sock.recv(4096)

    eventually(lambda: server.state()["descriptors"] <= before["descriptors"])
    eventually(lambda: server.state()["exchanges"] <= before["exchanges"])
