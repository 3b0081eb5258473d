"""Signing in: with the daemon's token when authentication is on, as memcastle/memcastle when it is off."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.database.support import NONE, TOKEN, Client, Endpoint

BEARER = {"Authorization": f"Bearer {TOKEN}"}
GOOD = {"user": "memcastle", "pass": TOKEN}
OPEN = ("ping", "version", "use", "sessions", "reset", "invalidate")
INVALID = {"kind": "Auth", "details": {"kind": "InvalidAuth"}}


def refused(client: Client, method: str, *params: Any, **more: Any) -> None:
    began = time.monotonic()
    error = client.error(method, *params, **more)
    assert (error["code"], error["message"]) == (-32002, "There was a problem with authentication")
    assert error["details"] == INVALID
    assert time.monotonic() - began >= 0.25


def answered(client: Client) -> Iterator[dict[str, Any]]:
    """Every answer until the connection is closed."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            yield client.receive()


@pytest.mark.parametrize("protocol", ["cbor", "json"])
def test_nothing_but_signing_in_before_signing_in(guarded: Endpoint, protocol: str) -> None:
    with guarded.client(protocol) as client:
        for method in OPEN:
            client.result(method, *(("memcastle", "palace") if method == "use" else ()))
        for method in ("query", "select", "create", "let", "unset", "info", "run", "live", "begin"):
            error = client.error(method, "RETURN 1")
            assert (error["code"], error["kind"]) == (-32002, "NotAllowed"), method
        assert client.error("nonsense")["code"] == -32601
        session = str(uuid.uuid4())
        client.result("attach", session=session)
        assert client.error("query", "RETURN 1", session=session)["code"] == -32002
        client.result("detach", session=session)


def test_signing_in_concerns_one_session(guarded: Endpoint) -> None:
    with guarded.client("cbor") as client:
        session = uuid.uuid4()
        client.result("attach", session=session)
        client.result("signin", {"username": "memcastle", "password": TOKEN}, session=session)
        assert client.query("RETURN 1", session=session) == 1
        assert client.error("query", "RETURN 1")["code"] == -32002
        client.result("signin", GOOD)
        assert client.query("RETURN session::db()") == "palace"
        client.result("reset")
        assert client.error("query", "RETURN 1")["code"] == -32002
        client.result("authenticate", TOKEN)
        assert client.query("RETURN 1") == 1
        client.result("invalidate")
        assert client.error("query", "RETURN 1")["code"] == -32002
        assert client.query("RETURN 1", session=session) == 1


def test_the_place_may_be_named_with_the_sign_in(guarded: Endpoint) -> None:
    with guarded.client("cbor") as client:
        client.result("signin", {**GOOD, "ns": "memcastle", "db": "named"})
        assert client.query("RETURN session::db()") == "named"
        client.result("signin", {**GOOD, "NS": "memcastle", "DB": "palace"})
        assert client.query("RETURN session::db()") == "palace"


def test_the_ticket_stands_for_the_token(guarded: Endpoint) -> None:
    with guarded.client("cbor") as client:
        ticket = client.result("signin", GOOD)
        assert ticket.count(".") == 2
        assert TOKEN not in ticket
        assert client.result("signin", GOOD) == ticket
    with guarded.client("cbor") as another:
        assert another.result("authenticate", ticket) == NONE
        assert another.query("RETURN 1") == 1
        assert another.result("signin", {"user": "memcastle", "pass": ticket}) == ticket


def test_five_refusals_close_the_connection(guarded: Endpoint) -> None:
    with guarded.client("cbor") as client:
        session = uuid.uuid4()
        client.result("attach", session=session)
        refused(client, "signin", {"user": "memcastle", "pass": "wrong"})
        refused(client, "signin", {"user": "root", "pass": TOKEN}, session=session)
        refused(client, "authenticate", "a.b.c")
        refused(client, "signin", {"user": "memcastle"})
        # A success begins the count anew.
        client.result("signin", GOOD)
        for _ in range(4):
            refused(client, "authenticate", "", session=session)
        assert client.query("RETURN 1") == 1
        refused(client, "signin", {"user": "memcastle", "pass": "memcastle"})
        with pytest.raises(ConnectionClosed) as closed:
            client.socket.recv(timeout=30)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 3000


def test_attempts_at_once_are_no_faster(guarded: Endpoint) -> None:
    with guarded.client("cbor") as client:
        sessions = [uuid.uuid4() for _ in range(30)]
        for session in sessions:
            client.result("attach", session=session)
        began = time.monotonic()
        for number, session in enumerate(sessions):
            client.send("authenticate", f"guess-{number}", session=session)
        answers = list(answered(client))
        assert len(answers) <= 6
        assert all("error" in answer for answer in answers)
        assert time.monotonic() - began >= 5 * 0.25


@pytest.mark.parametrize("given", [None, 5, [], "text", {}])
def test_sign_ins_of_the_wrong_shape(guarded: Endpoint, given: Any) -> None:
    with guarded.client("cbor") as client:
        if isinstance(given, dict):
            refused(client, "signin", given)
        else:
            assert client.error("signin", given)["code"] == -32603
        assert client.error("authenticate", 5)["code"] == -32603
        assert client.error("signin")["code"] == -32603


def test_a_token_on_the_upgrade_signs_every_session_in(guarded: Endpoint) -> None:
    with guarded.client("cbor", headers=BEARER) as client:
        assert client.query("RETURN 1") == 1
        session = uuid.uuid4()
        client.result("attach", session=session)
        assert client.query("RETURN 1", session=session) == 1
        client.result("invalidate")
        assert client.error("query", "RETURN 1")["code"] == -32002


@pytest.mark.parametrize("header", ["Bearer wrong-token-of-some-length", "Bearer", "Basic abc", f"Bearer {TOKEN}x"])
def test_a_wrong_token_on_the_upgrade_is_refused(guarded: Endpoint, header: str) -> None:
    with pytest.raises(InvalidStatus) as answer, guarded.connect(headers={"Authorization": header}):
        pass
    assert answer.value.response.status_code == 401
    assert answer.value.response.headers["WWW-Authenticate"] == "Bearer"
    assert b"auth::unauthorized" in answer.value.response.body


def test_a_revoked_token_fails_at_the_next_sign_in(guarded: Endpoint) -> None:
    daemon = guarded.daemon
    token = daemon.post("/api/auth/token", headers=BEARER)["token"]
    with guarded.client("cbor") as client:
        ticket = client.result("signin", {"user": "memcastle", "pass": token})
        assert daemon.request("DELETE", "/api/auth/token", headers=BEARER).json == {"revoked": True}
        assert client.query("RETURN 1") == 1
        refused(client, "signin", {"user": "memcastle", "pass": token})
        refused(client, "authenticate", ticket)


def test_without_authentication_a_connection_is_signed_in(client: Client) -> None:
    assert client.query("RETURN 1") == 1
    assert client.result("signin", {"user": "memcastle", "pass": "memcastle"}).count(".") == 2
    refused(client, "signin", {"user": "memcastle", "pass": "anything"})
    refused(client, "signin", {"user": "root", "pass": "memcastle"})
    assert client.query("RETURN 1") == 1
    client.result("invalidate")
    assert client.query("RETURN 1") == 1


def test_the_routes_need_the_token_too(guarded: Endpoint) -> None:
    for method in ("GET", "POST", "DELETE"):
        assert guarded.daemon.request(method, "/api/db").status == 401
    assert guarded.daemon.get("/api/db", headers=BEARER)["auth_required"] is True
