"""The endpoint and the daemon's own doors work on the same data, at the same time."""

from __future__ import annotations

import http.client
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.database.support import Client, Endpoint
from tests.support import PATIENCE_SECONDS


def test_what_rest_wrote_is_there_and_what_was_written_is_in_rest(own_endpoint: Endpoint) -> None:
    daemon = own_endpoint.daemon
    daemon.post("/api/wings", {"name": "w"})
    daemon.post("/api/wings/w/rooms", {"name": "r"})
    daemon.post("/api/wings/w/rooms/r/drawers", {"content": "kept by REST", "name": "d"})
    with own_endpoint.client("cbor") as client:
        assert client.query("SELECT VALUE content FROM drawer") == ["kept by REST"]
        client.query("UPDATE wing SET description = $text", {"text": "told by a client"})
    assert daemon.get("/api/wings/w")["wing"]["description"] == "told by a client"


def test_clients_writing_at_once_lose_nothing_beside_the_daemon(own_endpoint: Endpoint) -> None:
    """Transactions over the full-text index collide; those of clients take turns with the daemon's own."""
    daemon = own_endpoint.daemon
    daemon.post("/api/wings", {"name": "w"})
    daemon.post("/api/wings/w/rooms", {"name": "r"})
    daemon.post("/api/wings/w/rooms/r/drawers", {"content": "the pattern", "name": "pattern"})
    copy = "BEGIN; CREATE drawer CONTENT object::extend($pattern, { id: rand::uuid::v7(), name: $name }); COMMIT;"

    def over_rest(number: int) -> None:
        daemon.post("/api/wings/w/rooms/r/drawers", {"content": f"number {number}", "name": f"rest-{number}"})

    def over_the_endpoint(number: int) -> None:
        with own_endpoint.client("cbor") as client:
            [row] = client.query("SELECT * FROM drawer WHERE name = 'pattern'")
            for part in range(20):
                entries = client.result("query", copy, {"pattern": row, "name": f"client-{number}-{part}"})
                assert {entry["status"] for entry in entries} == {"OK"}, entries

    with ThreadPoolExecutor(8) as threads:
        work = [threads.submit(over_the_endpoint, number) for number in range(4)]
        work += [threads.submit(over_rest, number) for number in range(40)]
        for done in work:
            done.result()
    with own_endpoint.client("cbor") as client:
        assert client.query("RETURN count(SELECT id FROM drawer)") == 1 + 4 * 20 + 40


def test_a_change_that_a_client_announced_is_heard_at_once(own_endpoint: Endpoint) -> None:
    """Another daemon announces its changes in the outbox through this endpoint."""
    connection = http.client.HTTPConnection("127.0.0.1", own_endpoint.daemon.port, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/api/events")
    stream = connection.getresponse()
    heard: list[str] = []
    found = threading.Event()

    def listen() -> None:
        for line in stream:
            heard.append(line.decode())
            if '"id":"from-afar"' in heard[-1]:
                found.set()
                return

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        with own_endpoint.client("cbor") as client:
            entry: dict[str, Any] = {"kind": "wing", "action": "created", "id": "from-afar"}
            sql = "BEGIN; CREATE change CONTENT { at: '2026-01-01T00:00:00.000000000Z', entries: $entries }; COMMIT;"
            answer = client.result("query", sql, {"entries": [entry]})
            assert {part["status"] for part in answer} == {"OK"}
            assert found.wait(PATIENCE_SECONDS), heard
    finally:
        listener.join(PATIENCE_SECONDS)
        connection.close()


def test_eight_clients_at_once(own_endpoint: Endpoint) -> None:
    barrier = threading.Barrier(8)

    def converse(number: int) -> int:
        with own_endpoint.client("cbor" if number % 2 else "json") as client:
            barrier.wait(PATIENCE_SECONDS)
            client.result("let", "me", number)
            for _ in range(100):
                assert client.query("RETURN $me") == number
            return number

    with ThreadPoolExecutor(8) as threads:
        assert sorted(threads.map(converse, range(8))) == list(range(8))


def test_large_results_arrive_whole(client: Client, json_client: Client) -> None:
    """Far larger than a message may be the other way round."""
    sql = "RETURN array::map(<array> 1..=40000, |$n| $text)"
    text = "é" * 500
    for asked in (client, json_client):
        assert asked.query(sql, {"text": text}) == [text] * 40_000
