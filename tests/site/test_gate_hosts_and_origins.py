"""Hazard: a web page of somebody else talks to the daemon through the visitor's browser."""

from __future__ import annotations

from typing import Any

import pytest

from memcastle_site.gate import Gate
from tests.site.asking import ask


async def inner(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"secret"})


GATE = Gate(inner, allowed_hosts=("memory.example",), allowed_origins=("https://notes.example", "vscode-webview://panel"))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8420",
        "127.0.0.1",
        "[::1]:8420",
        "192.168.1.9:8420",
        "[fe80::1]",
        "localhost",
        "LOCALHOST:1",
        "localhost.:8420",
        "a.localhost:8420",
        "memory.example",
        "Memory.Example.:443",
    ],
)
async def test_host_that_cannot_be_rebound_is_answered(host: str) -> None:
    assert (await ask(GATE, host=host)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:8420",
        "127.0.0.1.attacker.example",
        "localhost.attacker.example",
        "notlocalhost",
        "sub.memory.example",
        "127.1",
        "0x7f000001.x",
        "2130706433",
        "127.0.0.1:99999",
        "127.0.0.1:8420:1",
        "127.0.0.1@attacker.example",
        "attacker.example, 127.0.0.1",
        "[127.0.0.1]",
        "[::1",
        "::1",
        "http://127.0.0.1",
        " 127.0.0.1",
        "127.0.0.1\t",
        ".",
        "",
    ],
)
async def test_any_other_host_is_refused(host: str) -> None:
    answer = await ask(GATE, host=host)

    assert answer.status == 421
    assert answer.error["code"] == "memcastle::server::host_refused"
    assert b"secret" not in answer.body


async def test_missing_double_or_unreadable_host_is_refused() -> None:
    for answer in (
        await ask(GATE, host=None),
        await ask(GATE, "GET", "/api/wings", ("host", "localhost")),
        await ask(GATE, "GET", "/api/wings", ("host", "127.0.0.1:8420")),
        await ask(GATE, host=None, raw_headers=[(b"host", b"localhost\xff")]),
    ):
        assert answer.status == 421


async def test_request_without_origin_passes() -> None:
    assert (await ask(GATE, "POST")).status == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8420", "http://127.0.0.1:8420"),
        ("127.0.0.1:8420", "http://localhost:8420"),
        ("localhost:8420", "http://127.0.0.1:8420"),
        ("127.0.0.1:8420", "http://[::1]:8420"),
        ("a.localhost:8420", "http://localhost:8420"),
        ("192.168.1.9:8420", "http://192.168.1.9:8420"),
        ("memory.example", "https://memory.example"),
        ("memory.example:443", "https://memory.example"),
        ("localhost:80", "http://localhost"),
        ("localhost", "http://localhost:80"),
        ("127.0.0.1:8420", "https://notes.example"),
        ("127.0.0.1:8420", "https://NOTES.example:443"),
        ("127.0.0.1:8420", "vscode-webview://panel"),
    ],
)
async def test_own_or_listed_page_may_ask(host: str, origin: str) -> None:
    assert (await ask(GATE, "POST", "/api/search", ("origin", origin), host=host)).status == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8420", "http://attacker.example"),
        ("127.0.0.1:8420", "http://attacker.example:8420"),
        ("127.0.0.1:8420", "http://127.0.0.1:3000"),
        ("127.0.0.1:8420", "http://localhost"),
        ("127.0.0.1:8420", "null"),
        ("127.0.0.1:8420", ""),
        ("127.0.0.1:8420", "*"),
        ("127.0.0.1:8420", "127.0.0.1:8420"),
        ("127.0.0.1:8420", "file://"),
        ("127.0.0.1:8420", "http://127.0.0.1:8420/path"),
        ("127.0.0.1:8420", "http://127.0.0.1:8420, http://attacker.example"),
        ("127.0.0.1:8420", "ftp://127.0.0.1:8420"),
        ("127.0.0.1:8420", "http://notes.example"),
        ("192.168.1.9:8420", "http://localhost:8420"),
        ("memory.example", "http://memory.example:8080"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_page_of_another_site_is_refused(host: str, origin: str, method: str) -> None:
    answer = await ask(GATE, method, "/api/search", ("origin", origin), host=host)

    assert answer.status == 403
    assert answer.error["code"] == "memcastle::server::origin_refused"


async def test_two_origins_are_refused() -> None:
    twice = [("origin", "http://127.0.0.1:8420"), ("origin", "http://127.0.0.1:8420")]

    assert (await ask(GATE, "POST", "/api/search", *twice)).status == 403


async def test_cross_site_form_without_origin_is_refused_but_a_link_is_followed() -> None:
    fetched = ("sec-fetch-site", "cross-site")

    assert (await ask(GATE, "POST", "/api/search", fetched)).status == 403
    assert (await ask(GATE, "GET", "/ui/", fetched)).status == 200
    assert (await ask(GATE, "POST", "/api/search", ("sec-fetch-site", "same-origin"))).status == 200


async def test_listed_origin_may_ask_although_the_browser_calls_it_cross_site() -> None:
    headers = [("origin", "https://notes.example"), ("sec-fetch-site", "cross-site")]

    assert (await ask(GATE, "POST", "/api/search", *headers)).status == 200


async def test_websocket_is_refused_before_the_application_sees_it() -> None:
    sent = []

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await GATE({"type": "websocket", "path": "/api/events", "headers": []}, receive, send)

    assert sent == ["websocket.close"]
