"""The protocol in JSON: which clients get it, how they name records, what they see."""

from __future__ import annotations

import json
import uuid

import pytest

from tests.database.support import Client, Endpoint


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ((), None),
        (("json",), "json"),
        (("json", "cbor"), "cbor"),
        (("flatbuffers", "cbor", "json"), "cbor"),
        (("flatbuffers",), None),
        (("graphql", "json"), "json"),
    ],
)
def test_subprotocol(endpoint: Endpoint, offered: tuple[str, ...], chosen: str | None) -> None:
    with endpoint.client(*offered) as client:
        assert client.socket.subprotocol == chosen
        assert client.query("RETURN 1") == 1


def test_bytes_are_read_as_json_too(json_client: Client) -> None:
    json_client.socket.send(b'{"id": 1, "method": "version"}')
    answer = json_client.receive()
    assert answer["id"] == 1
    assert answer["result"].startswith("surrealdb-")


def test_records_are_named_by_texts_and_shown_as_texts(json_client: Client) -> None:
    ask = json_client.result
    ask("use", "memcastle", "json")
    assert ask("create", "thing:1", {"a": "thing:2"}) == {"id": "thing:1", "a": "thing:2"}
    assert ask("upsert", "thing:⟨x y⟩", {"a": 1}) == {"id": "thing:`x y`", "a": 1}
    assert ask("select", "thing:⟨x y⟩") == {"id": "thing:`x y`", "a": 1}
    assert len(ask("select", "thing")) == 2
    assert ask("merge", "thing:1", {"b": [1]})["b"] == [1]
    assert ask("relate", "thing:1", "next", "thing:⟨x y⟩", {"w": 1})["out"] == "thing:`x y`"
    assert ask("insert", "thing", [{"id": 7}]) == [{"id": "thing:7"}]
    assert ask("delete", "thing:7") == {"id": "thing:7"}
    assert ask("run", "string::len", None, ["four"]) == 4
    assert json_client.error("select", "thing:")["code"] == -32700


def test_texts_of_values_stay_texts(json_client: Client) -> None:
    given = {"a": "person:1", "b": "2026-01-01T00:00:00Z", "c": str(uuid.uuid4()), "d": None, "e": 1.5, "f": "Grüße"}
    assert json_client.query("RETURN $given", {"given": given}) == given
    assert json_client.query("RETURN [type::of($a), type::of($n)]", {"a": "person:1", "n": None}) == ["string", "null"]


def test_values_are_shown_as_surrealdb_writes_them(json_client: Client) -> None:
    shown = json_client.query("RETURN [d'2026-01-01T00:00:00Z', 1h30m, 1.5dec, person:1, NONE, <bytes>'a', 1..2]")
    assert shown == ["2026-01-01T00:00:00Z", "1h30m", "1.5", "person:1", None, [97], "1..2"]


def test_use_leaves_out_what_is_null(json_client: Client) -> None:
    assert json_client.result("use", None, "json") == {"namespace": "memcastle", "database": "json"}


def test_errors_are_the_engine_s_own(json_client: Client) -> None:
    error = json_client.error("query", "RETURN (")
    assert error["code"] == -32000
    assert error["kind"] == "Validation"
    assert error["message"].startswith("Parse error")


@pytest.mark.parametrize("identity", [1, "a", "", 0, None, [1]])
def test_answers_carry_the_id_of_the_request(json_client: Client, identity: object) -> None:
    json_client.socket.send(json.dumps({"id": identity, "method": "ping"}))
    answer = json_client.receive()
    assert answer == ({"result": None} if identity is None else {"id": identity, "result": None})


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "{",
        "nonsense",
        '{"id": 1, "method": "ping", "params": NaN}',
        '{"id": 1, "method": "query", "params": ["RETURN $a", {"a": 9223372036854775808}]}',
        '{"id": 1, "method": "query", "params": ["RETURN $a", {"a": "\\ud800"}]}',
        '{"id": 1, "method": "query", "params": ' + "[" * 200 + "]" * 200 + "}",
        '{"id": 1, "method": "query", "params": ' + "[" * 100_000 + "]" * 100_000 + "}",
        b"\xff",
    ],
)
def test_frames_that_cannot_be_read(json_client: Client, frame: str | bytes) -> None:
    json_client.socket.send(frame)
    answer = json_client.receive()
    assert answer["error"]["code"] == -32700, answer
    assert json_client.query("RETURN 1") == 1


@pytest.mark.parametrize("frame", ["[]", "5", '{"id": 1}', '{"id": 1, "method": null}', '{"method": "ping", "params": {}}'])
def test_frames_that_are_no_request(json_client: Client, frame: str) -> None:
    json_client.socket.send(frame)
    assert json_client.receive()["error"]["code"] == -32600
