"""Limits: connections, size and depth of messages, requests at a time."""

from __future__ import annotations

import json
from contextlib import ExitStack

import cbor2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.database.support import Client, Endpoint, opened
from tests.support import Daemon, until

MIB = 1024 * 1024


def test_the_ninth_connection_is_refused_until_one_of_eight_closes(daemon: Daemon) -> None:
    endpoint = opened(daemon)
    with ExitStack() as stack:
        first = stack.enter_context(endpoint.connect())
        others = [stack.enter_context(endpoint.client("cbor")) for _ in range(7)]
        with pytest.raises(InvalidStatus) as refused:
            stack.enter_context(endpoint.connect())
        assert refused.value.response.status_code == 503
        assert b"8 connections" in refused.value.response.body
        assert [client.query("RETURN 1") for client in others] == [1] * 7
        first.close()

        def again() -> bool:
            try:
                with endpoint.client() as client:
                    return bool(client.query("RETURN 1") == 1)
            except InvalidStatus:
                return False

        until(again, "a place to become free")


def test_a_message_of_sixteen_mib_is_taken_and_a_larger_one_closes(client: Client) -> None:
    head = cbor2.dumps({"id": 1, "method": "query", "params": ["RETURN bytes::len($b)", {"b": b""}]})
    space = 16 * MIB - len(head) - 4
    assert client.query("RETURN bytes::len($b)", {"b": b"x" * space}) == space
    client.socket.send(b"x" * (16 * MIB + 1))
    with pytest.raises(ConnectionClosed) as closed:
        client.socket.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_a_message_a_hundred_deep_is_taken_and_a_deeper_one_refused(client: Client, json_client: Client) -> None:
    def nested(levels: int) -> list[object]:
        value: list[object] = []
        for _ in range(levels - 1):
            value = [value]
        return value

    for asked in (client, json_client):
        # The message, its parameters and their object are levels of their own.
        assert asked.query("RETURN type::of($deep)", {"deep": nested(97)}) == "array"
        refused = {"id": 1, "method": "query", "params": ["RETURN 1", {"deep": nested(98)}]}
        asked.socket.send(cbor2.dumps(refused) if asked.binary else json.dumps(refused))
        assert asked.receive()["error"]["code"] == -32700
        assert asked.query("RETURN 1") == 1


def test_thousands_of_requests_at_once_are_all_answered(client: Client) -> None:
    numbers = {client.send("query", "RETURN $n", {"n": number}): number for number in range(3000)}
    for _ in range(3000):
        answer = client.receive()
        assert answer["result"][0]["result"] == numbers.pop(answer["id"])
    assert numbers == {}


def test_a_client_that_sends_much_and_reads_nothing_is_slowed_down(own_endpoint: Endpoint) -> None:
    """The daemon must not keep what such a client asks for and is answered."""
    daemon = own_endpoint.daemon
    assert daemon.process is not None
    pid = daemon.process.pid
    with own_endpoint.connect("cbor") as socket:
        before = _resident(pid)
        socket.socket.settimeout(3)
        message = cbor2.dumps({"id": 1, "method": "query", "params": ["RETURN $b", {"b": b"x" * MIB}]})
        sent = 0
        try:
            while sent < 400:
                socket.send(message)
                sent += 1
        except (TimeoutError, ConnectionClosed):
            pass
        assert sent < 400
        assert _resident(pid) - before < 300 * MIB
        assert daemon.get("/api/health") == {"status": "ok"}


def _resident(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * 4096
