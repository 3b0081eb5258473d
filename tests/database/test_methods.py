"""The methods of the protocol, called as such and in CBOR."""

from __future__ import annotations

import uuid

import cbor2
import pytest

from tests.database.support import NONE, Client


def record(text: str) -> cbor2.CBORTag:
    return cbor2.CBORTag(8, text)


def test_connection_starts_in_the_palace(client: Client) -> None:
    assert client.query("RETURN [session::ns(), session::db()]") == ["memcastle", "palace"]
    assert client.result("ping") == NONE
    assert client.result("version").startswith("surrealdb-3.")
    assert client.result("info") == NONE
    assert client.result("sessions") == []


def test_data_methods(client: Client) -> None:
    client.result("use", "memcastle", "methods")
    table = cbor2.CBORTag(7, "thing")
    assert client.result("create", record("thing:1"), {"a": 1})["a"] == 1
    assert [row["a"] for row in client.result("insert", table, [{"id": 2, "a": 2}, {"id": 3, "a": 3}])] == [2, 3]
    assert client.result("select", record("thing:2"))["a"] == 2
    assert len(client.result("select", table)) == 3
    assert client.result("update", record("thing:1"), {"b": 1}) == {"id": cbor2.CBORTag(8, ("thing", 1)), "b": 1}
    assert client.result("merge", record("thing:1"), {"c": 2})["b"] == 1
    patch = [{"op": "replace", "path": "/b", "value": 9}]
    assert client.result("patch", record("thing:1"), patch)["b"] == 9
    assert client.result("upsert", record("thing:4"), {"d": 4})["d"] == 4
    assert client.result("relate", record("thing:1"), "next", record("thing:2"), {"w": 1})["w"] == 1
    edge = {"in": record("thing:2"), "out": record("thing:3")}
    assert len(client.result("insert_relation", "next", edge)) == 1
    assert client.query("RETURN count(SELECT * FROM next)") == 2
    assert client.result("run", "math::max", NONE, [[1, 5, 3]]) == 5
    assert client.result("delete", record("thing:4"))["d"] == 4
    assert client.result("select", record("thing:4")) == NONE


def test_query_answers_each_statement_and_the_first_error(client: Client) -> None:
    entries = client.result("query", "RETURN $a; THROW 'no'; RETURN 2", {"a": [1, NONE, None]})
    assert [entry["status"] for entry in entries] == ["OK", "ERR", "OK"]
    assert entries[0]["result"] == [1, NONE, None]
    assert entries[1]["kind"] == "Thrown"
    assert "µs" in entries[0]["time"] or "ms" in entries[0]["time"]
    assert client.error("query", "RETURN (")["kind"] == "Validation"
    assert client.error("query")["code"] == -32603


@pytest.mark.parametrize("method", ["begin", "commit", "cancel", "signup"])
def test_methods_that_are_not_served_say_so(client: Client, method: str) -> None:
    error = client.error(method)
    assert (error["code"], error["kind"]) == (-32602, "NotAllowed")
    assert error["details"] == {"kind": "Method", "details": {"name": method}}


def test_live_queries_are_refused_everywhere(client: Client) -> None:
    for method, params in (("live", ["wing"]), ("kill", [uuid.uuid4()])):
        error = client.error(method, *params)
        assert (error["code"], error["details"]) == (-32604, {"kind": "LiveQueryNotSupported"})
    [entry] = client.result("query", "LIVE SELECT * FROM wing")
    assert entry["status"] == "ERR"


@pytest.mark.parametrize("method", ["query_stream", "graphql", "import", "Query", ""])
def test_methods_that_do_not_exist(client: Client, method: str) -> None:
    error = client.error(method)
    assert (error["code"], error["kind"]) == (-32601, "NotFound")


def test_transactions_over_several_requests_are_refused(client: Client) -> None:
    error = client.error("query", "RETURN 1", txn=uuid.uuid4())
    assert error["code"] == -32602
    assert "BEGIN" in error["message"]
    assert client.result("query", "RETURN 1", {}, txn=NONE)[0]["result"] == 1


def test_values_without_a_form_in_the_protocol(client: Client) -> None:
    error = client.error("query", "RETURN <regex>'a.b'")
    assert (error["code"], error["kind"]) == (-32000, "Internal")
    assert client.query("RETURN 1") == 1


def test_frames_that_are_no_request_are_answered_without_an_id(client: Client) -> None:
    for frame, code in (
        (b"\xff", -32700),
        (b"", -32700),
        (cbor2.dumps([1]), -32700),
        (cbor2.dumps({"id": 1}), -32600),
        (cbor2.dumps({"id": 1, "method": 5}), -32600),
        (cbor2.dumps({"id": 1, "method": "ping", "params": {}}), -32600),
        (cbor2.dumps({"id": 1, "method": "ping", "session": "nonsense"}), -32603),
        (cbor2.dumps({"id": 1, "method": "ping"}) + b"\x00", -32700),
    ):
        client.socket.send(frame)
        answer = client.receive()
        assert "id" not in answer
        assert answer["error"]["code"] == code, (frame, answer)
    assert client.query("RETURN 1") == 1


def test_text_frames_are_read_as_cbor_too(client: Client) -> None:
    client.socket.send('{"id": 1, "method": "ping"}')
    assert client.receive()["error"]["code"] == -32700
