"""Sessions: each has its own place, variables and order; none reaches into another or into the daemon's."""

from __future__ import annotations

import uuid

import pytest

from tests.database.support import NONE, Client, Endpoint


def test_variables_belong_to_the_session(client: Client) -> None:
    one, two = uuid.uuid4(), uuid.uuid4()
    for session in (one, two):
        assert client.ask("attach", session=session)["session"] == session
    assert sorted(client.result("sessions")) == sorted([one, two])
    client.result("let", "v", {"n": 1}, session=one)
    client.result("let", "v", 2)
    assert client.query("RETURN $v", session=one) == {"n": 1}
    assert client.query("RETURN $v", session=two) == NONE
    assert client.query("RETURN $v") == 2
    client.result("unset", "v", session=one)
    assert client.query("RETURN $v", session=one) == NONE
    client.result("let", "v", NONE)
    assert client.query("RETURN $v") == NONE
    assert client.error("let", "auth", 5)["code"] == -32603


def test_place_belongs_to_the_session(client: Client, endpoint: Endpoint) -> None:
    session = uuid.uuid4()
    client.result("attach", session=session)
    assert client.query("RETURN session::db()", session=session) == "palace"
    client.result("use", "other", "elsewhere", session=session)
    assert client.query("RETURN [session::ns(), session::db()]", session=session) == ["other", "elsewhere"]
    client.result("use", NONE, "third", session=session)
    assert client.query("RETURN [session::ns(), session::db()]", session=session) == ["other", "third"]
    assert client.query("RETURN session::db()") == "palace"
    with endpoint.client("cbor") as another:
        assert another.query("RETURN session::db()") == "palace"
    # The daemon's own queries are where they were.
    assert isinstance(endpoint.daemon.get("/api/wings"), list)


@pytest.mark.parametrize("method", ["reset", "invalidate"])
def test_a_fresh_session_takes_the_place_of_an_old_one(client: Client, method: str) -> None:
    client.result("use", "other", "elsewhere")
    client.result("let", "v", 1)
    assert client.result(method) == NONE
    assert client.query("RETURN [session::ns(), session::db(), $v]") == ["memcastle", "palace", NONE]


def test_ids_of_sessions_are_those_of_the_connection(client: Client, endpoint: Endpoint) -> None:
    session = uuid.uuid4()
    client.result("attach", session=session)
    assert client.error("attach", session=session)["kind"] == "AlreadyExists"
    with endpoint.client("cbor") as another:
        assert another.error("query", "RETURN 1", session=session)["kind"] == "NotFound"
        another.result("attach", session=session)
        another.result("let", "v", 1, session=session)
    assert client.query("RETURN $v", session=session) == NONE
    client.result("detach", session=session)
    for method in ("detach", "query", "ping", "use", "signin"):
        error = client.error(method, session=session)
        assert (error["kind"], error["details"]["kind"]) == ("NotFound", "Session"), method
    for method in ("attach", "detach"):
        assert client.error(method)["code"] == -32603


def test_ids_may_be_texts(client: Client) -> None:
    session = uuid.uuid4()
    assert client.ask("attach", session=str(session))["session"] == session
    assert client.query("RETURN 1", session=str(session)) == 1


def test_a_connection_has_at_most_64_attached_sessions(client: Client) -> None:
    sessions = [uuid.uuid4() for _ in range(70)]
    numbers = [client.send("attach", session=session) for session in sessions]
    answers = {answer["id"]: answer for answer in (client.receive() for _ in sessions)}
    refused = [number for number in numbers if "error" in answers[number]]
    assert len(refused) == 6
    assert {answers[number]["error"]["message"] for number in refused} == {"A connection has at most 64 sessions; detach one"}
    attached = client.result("sessions")
    assert len(attached) == 64
    client.result("detach", session=attached[0])
    client.result("attach", session=uuid.uuid4())


def test_requests_that_are_not_waited_for_keep_their_order(client: Client) -> None:
    """A query must run in the place that was chosen before it, and with the variables of that moment."""
    session = uuid.uuid4()
    expected = {}
    client.send("attach", session=session)
    client.send("use", "other", "elsewhere", session=session)
    for number in range(50):
        client.send("let", "v", number, session=session)
        asked = client.send("query", "SLEEP 1ms; RETURN [session::db(), $v]", {}, session=session)
        expected[asked] = ["elsewhere", number]
    answers = {answer["id"]: answer for answer in (client.receive() for _ in range(102))}
    assert {number: answers[number]["result"][1]["result"] for number in expected} == expected


def test_queries_of_one_session_run_side_by_side(client: Client) -> None:
    slow = client.send("query", "SLEEP 3s; RETURN 1")
    quick = client.send("query", "RETURN 2")
    assert [client.receive()["id"] for _ in range(2)] == [quick, slow]


def test_a_client_that_removes_the_user_behind_the_sessions_locks_nobody_out(own_endpoint: Endpoint) -> None:
    with own_endpoint.client("cbor") as client:
        client.query("REMOVE USER memcastle_endpoint ON ROOT")
        session = uuid.uuid4()
        client.result("attach", session=session)
        assert client.query("RETURN 1", session=session) == 1
    with own_endpoint.client("cbor") as another:
        assert another.query("RETURN 1") == 1
        assert list(another.query("INFO FOR ROOT")["users"]) == ["memcastle_endpoint"]


def test_closing_leaves_no_user_behind(own_endpoint: Endpoint) -> None:
    daemon = own_endpoint.daemon
    assert daemon.request("DELETE", "/api/db").status == 200
    port = daemon.post("/api/db", {"port": 0})["addr"].rpartition(":")[2]
    with Endpoint(daemon, int(port)).client("cbor") as client:
        users = client.query("INFO FOR ROOT")["users"]
    assert list(users) == ["memcastle_endpoint"]
