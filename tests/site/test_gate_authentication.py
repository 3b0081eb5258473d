"""Who needs the token, and what the answer says when it is not good enough."""

from __future__ import annotations

from typing import Any

import pytest

from memcastle_site.errors import Unauthorized
from memcastle_site.gate import Gate, bearer_token
from palace.errors import StoreFailed
from tests.site.asking import ask

TOKEN = "mc_0123456789abcdef"


async def inner(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


async def authenticate(authorization: str | None) -> None:
    if bearer_token(authorization) != TOKEN:
        raise Unauthorized("the bearer token is invalid")


GATE = Gate(inner, authenticate=authenticate)


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER   {TOKEN}  "])
async def test_good_token_passes(header: str) -> None:
    assert (await ask(GATE, "GET", "/api/wings", ("authorization", header))).status == 200


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ([], "missing"),
        ([("authorization", "Basic bWU6eW91")], "malformed"),
        ([("authorization", "Bearer")], "malformed"),
        ([("authorization", "Bearer ")], "malformed"),
        ([("authorization", TOKEN)], "malformed"),
        ([("authorization", f"Bearer {TOKEN}"), ("authorization", f"Bearer {TOKEN}")], "malformed"),
        ([("authorization", "Bearer schlüssel")], "malformed"),
        ([("authorization", f"Bearer {TOKEN}x")], "invalid"),
    ],
)
async def test_refusal_says_why_in_one_word_and_never_the_token(headers: list[tuple[str, str]], word: str) -> None:
    answer = await ask(GATE, "GET", "/api/wings", *headers)

    assert answer.status == 401
    assert answer.header("www-authenticate") == "Bearer"
    assert answer.error["code"] == "memcastle::auth::unauthorized"
    assert answer.error["error"].endswith(word)
    assert TOKEN.encode() not in answer.body


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/health"),
        ("GET", "/static/app.css"),
        ("HEAD", "/static/vendor/htmx.js"),
    ],
)
async def test_health_and_static_files_are_open(method: str, path: str) -> None:
    assert (await ask(GATE, method, path)).status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("HEAD", "/api/health"),
        ("POST", "/api/health"),
        ("GET", "/api/health/"),
        ("GET", "/api/Health"),
        ("POST", "/static/app.css"),
        ("GET", "/static/../api/config"),
        ("GET", "/static"),
        ("GET", "/api/static/app.css"),
        ("GET", "//static/app.css"),
        ("GET", "/mcp"),
        ("POST", "/mcp"),
        ("GET", "/admin/"),
        ("GET", "/no/such/route"),
        ("OPTIONS", "/api/wings"),
    ],
)
async def test_everything_else_needs_the_token(method: str, path: str) -> None:
    assert (await ask(GATE, method, path)).status == 401


async def test_root_path_from_the_server_does_not_reach_the_application() -> None:
    seen = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["root_path"], scope["path"]))
        await inner(scope, receive, send)

    await ask(Gate(application, authenticate=authenticate), "GET", "/static/app.css")

    assert seen == [("", "/static/app.css")]


async def test_store_that_cannot_be_asked_lets_nobody_in() -> None:
    async def unreachable(authorization: str | None) -> None:
        raise StoreFailed("the database is closed")

    answer = await ask(Gate(inner, authenticate=unreachable), "GET", "/api/wings", ("authorization", f"Bearer {TOKEN}"))

    assert answer.status == 500
    assert answer.error["code"] == "memcastle::store::backend_failed"


async def test_authenticator_that_breaks_lets_nobody_in() -> None:
    async def broken(authorization: str | None) -> None:
        raise ZeroDivisionError

    answer = await ask(Gate(inner, authenticate=broken))

    assert answer.status == 500
    assert answer.body != b"inside"


async def test_stop_then_host_then_origin_then_token() -> None:
    stopping = Gate(inner, authenticate=authenticate, stopping=lambda: True)
    foreign = ("origin", "http://attacker.example")

    assert (await ask(stopping, "GET", "/api/wings", foreign, host="attacker.example")).status == 503
    assert (await ask(GATE, "GET", "/api/wings", foreign, host="attacker.example")).status == 421
    assert (await ask(GATE, "GET", "/api/wings", foreign)).status == 403
    assert (await ask(GATE, "GET", "/api/wings", ("content-length", "99999999"))).status == 401


async def test_stopping_daemon_asks_clients_to_come_back() -> None:
    answer = await ask(Gate(inner, stopping=lambda: True), "GET", "/api/health")

    assert answer.status == 503
    assert answer.error["code"] == "memcastle::server::shutting_down"
    assert answer.header("connection") == "close"
    assert int(answer.header("retry-after") or 0) > 0


@pytest.mark.parametrize("prefix", ["", "/", "//", "static/", "/static"])
def test_static_prefix_that_would_open_everything_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        Gate(inner, static_prefix=prefix)
