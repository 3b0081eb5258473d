"""The bearer token through a real daemon: who needs it, what its refusals say, and where it never shows up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rest.support import JSON, Wire, faults_in_log, path, refused, routes
from tests.support import PATIENCE_SECONDS, ROOT, Answer, Daemon, running_daemon

TOKEN = "the-configured-secret-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
GENERATED = re.compile(r"mc_[0-9a-f]{64}")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with authentication on, which logs everything it ever logs."""
    settings = {"MEMCASTLE_AUTH_ENABLED": "true", "MEMCASTLE_AUTH_TOKEN": TOKEN, "MEMCASTLE_LOG": "trace"}
    with running_daemon(tmp_path_factory.mktemp("guarded") / "home", **settings) as running:
        yield running
        assert faults_in_log(running, ["Traceback"]) == []


@pytest.fixture
def door(guarded: Daemon) -> Iterator[Wire]:
    connection = Wire(guarded)
    yield connection
    connection.close()


def unauthorized(answer: Answer, word: str) -> None:
    refused(answer, 401, "auth::unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json["error"].split()[-1] == word
    assert "token" not in answer.headers.get("set-cookie", "")


def generate(door: Wire) -> str:
    answer = door.ask("POST", "/api/auth/token", headers=BEARER)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert set(answer.json) == {"token", "algorithm", "version", "created_at"}
    assert (answer.json["algorithm"], answer.json["version"]) == ("sha256", 1)
    token: str = answer.json["token"]
    assert GENERATED.fullmatch(token)
    return token


def status_with(door: Wire, token: str) -> int:
    return door.ask("GET", "/api/wings", headers={"Authorization": f"Bearer {token}"}).status


def test_health_is_open_for_get_alone(door: Wire) -> None:
    assert door.ask("GET", "/api/health").json == {"status": "ok"}
    assert door.ask("HEAD", "/api/health").status == 401
    for method in ("POST", "DELETE", "OPTIONS"):
        unauthorized(door.ask(method, "/api/health"), "missing")


def test_static_files_are_open_and_pages_are_not(guarded: Daemon, door: Wire) -> None:
    assert guarded.request("GET", "/static/memcastle/dashboard.css").status == 200
    for page in ("/", "/ui", "/ui/", "/ui/?q=a", "/admin/", "/mcp", "/nowhere"):
        assert door.ask("GET", page).status == 401, page


def test_every_route_needs_the_token_even_when_it_does_not_exist(guarded: Daemon, door: Wire) -> None:
    for route in routes(guarded, BEARER):
        if route.path != "/api/health":
            unauthorized(door.ask(route.method, route.target(), json.dumps(route.body).encode(), JSON), "missing")
    for target in (
        "/api",
        "/api/",
        "/api/nope",
        "/api/docs",
        "/api/openapi.json",
        "/api/health/",
        "/api/HEALTH",
        "/api/wings/",
    ):
        for method in ("GET", "POST", "BREW"):
            unauthorized(door.ask(method, target), "missing")


@pytest.mark.parametrize(
    ("header", "word"),
    [
        *((header, "malformed") for header in ("Bearer", "Bearer ", "Bearer   ", "Basic dTpw", TOKEN, f"Token {TOKEN}", "")),
        *((header, "malformed") for header in (f"Bearer:{TOKEN}", f"Bearer\t{TOKEN}", f"Bearer {TOKEN}\xe9")),
        *((f"Bearer {wrong}", "invalid") for wrong in (TOKEN + "x", TOKEN[:-1], TOKEN.upper(), f'"{TOKEN}"', "mc_" + "0" * 64)),
        *((f"Bearer {wrong}", "invalid") for wrong in (f"{TOKEN} {TOKEN}", f"{TOKEN}, Bearer {TOKEN}", "x" * 5000)),
    ],
)
def test_what_is_wrong_with_a_header_is_said_in_one_word(door: Wire, header: str, word: str) -> None:
    answer = door.ask("GET", "/api/wings", headers={"Authorization": header})
    unauthorized(answer, word)
    assert TOKEN not in answer.text


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER    {TOKEN}  "])
def test_the_right_token_passes(door: Wire, header: str) -> None:
    assert door.ask("GET", "/api/wings", headers={"Authorization": header}).status == 200


@pytest.mark.parametrize(
    "target", [f"/api/wings?token={TOKEN}", f"/api/wings?access_token={TOKEN}&authorization=Bearer+{TOKEN}"]
)
def test_a_token_counts_in_its_header_only(door: Wire, target: str) -> None:
    unauthorized(door.ask("GET", target), "missing")
    unauthorized(door.ask("GET", target, headers={"Cookie": f"token={TOKEN}; Authorization=Bearer {TOKEN}"}), "missing")


def test_the_token_comes_before_everything_a_request_says(door: Wire) -> None:
    unauthorized(door.ask("POST", "/api/wings", b"{", JSON), "missing")
    unauthorized(door.ask("GET", "/api/jobs/nonsense"), "missing")
    unauthorized(door.ask("GET", "/api/wings", headers={"X-MemCastle-Mode": "bogus"}), "missing")
    unauthorized(door.ask("POST", "/api/wings", b"a" * 3_000_000, JSON), "missing")


def test_with_the_token_refusals_are_the_usual_ones(door: Wire) -> None:
    refused(door.ask("GET", "/api/nope", headers=BEARER), 404, "server::route_not_found")
    refused(door.ask("BREW", "/api/wings", headers=BEARER), 405, "server::method_not_allowed")
    refused(door.ask("GET", "/api/wings", headers={**BEARER, "X-MemCastle-Mode": "disabled"}), 403, "mode::forbidden")


def test_token_routes_ask_for_no_memory_mode(door: Wire) -> None:
    answer = door.ask("POST", "/api/auth/token", headers={**BEARER, "X-MemCastle-Mode": "bogus"})
    assert answer.status == 200
    assert door.ask("DELETE", "/api/auth/token", headers={**BEARER, "X-MemCastle-Mode": "disabled"}).json == {"revoked": True}


def test_a_generated_token_passes_beside_the_configured_one_until_it_is_replaced_or_revoked(door: Wire) -> None:
    first = generate(door)
    assert status_with(door, first) == 200
    second = generate(door)
    assert first != second
    unauthorized(door.ask("GET", "/api/wings", headers={"Authorization": f"Bearer {first}"}), "invalid")
    assert status_with(door, second) == 200
    assert door.ask("DELETE", "/api/auth/token", headers={"Authorization": f"Bearer {second}"}).json == {"revoked": True}
    unauthorized(door.ask("GET", "/api/wings", headers={"Authorization": f"Bearer {second}"}), "invalid")
    assert door.ask("DELETE", "/api/auth/token", headers=BEARER).json == {"revoked": False}
    assert status_with(door, TOKEN) == 200


HOSTILE: tuple[tuple[dict[str, str], int, str], ...] = (
    ({"Host": "attacker.example"}, 421, "server::host_refused"),
    ({"Host": "attacker.example:8420"}, 421, "server::host_refused"),
    ({"Host": "127.0.0.1.attacker.example"}, 421, "server::host_refused"),
    ({"Host": "localhost.attacker.example"}, 421, "server::host_refused"),
    ({"Host": ""}, 421, "server::host_refused"),
    ({"Host": "user@127.0.0.1"}, 421, "server::host_refused"),
    ({"Origin": "http://attacker.example"}, 403, "server::origin_refused"),
    ({"Origin": "null"}, 403, "server::origin_refused"),
    ({"Origin": "http://127.0.0.1:1"}, 403, "server::origin_refused"),
    ({"Origin": "https://localhost"}, 403, "server::origin_refused"),
)


@pytest.mark.parametrize(("headers", "status", "code"), HOSTILE, ids=lambda value: str(value))
def test_pages_of_others_are_turned_away_before_the_token_is_looked_at(
    door: Wire, headers: dict[str, str], status: int, code: str
) -> None:
    for method, target in (("GET", "/api/health"), ("GET", "/api/wings"), ("POST", "/api/shutdown"), ("GET", "/api/nope")):
        for token in ({}, BEARER, {"Authorization": "Bearer wrong"}):
            refused(door.ask(method, target, headers={**token, **headers}), status, code)
    assert door.ask("GET", "/static/memcastle/dashboard.css", headers=headers).status == status


def test_the_daemon_answers_under_the_names_of_this_machine(guarded: Daemon, door: Wire) -> None:
    for host in (f"127.0.0.1:{guarded.port}", f"localhost:{guarded.port}", f"LOCALHOST:{guarded.port}", "[::1]", "localhost."):
        assert door.ask("GET", "/api/health", headers={"Host": host}).status == 200, host
    own = {"Host": f"localhost:{guarded.port}", "Origin": f"http://localhost:{guarded.port}"}
    assert door.ask("POST", "/api/search", b"{}", {**BEARER, **JSON, **own}).status == 200


def test_a_request_with_two_hosts_or_none_is_turned_away(door: Wire) -> None:
    refused(door.exchange(b"GET /api/health HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), 421, "server::host_refused")
    two = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nHost: attacker.example\r\nContent-Length: 0\r\n\r\n"
    refused(door.exchange(two), 421, "server::host_refused")


def test_a_request_that_another_site_s_page_sent_without_an_origin(door: Wire) -> None:
    headers = {**BEARER, "Sec-Fetch-Site": "cross-site"}
    refused(door.ask("POST", "/api/search", b"{}", {**headers, **JSON}), 403, "server::origin_refused")
    assert door.ask("GET", "/api/wings", headers=headers).status == 200


def test_no_secret_is_written_or_told_anywhere(guarded: Daemon, door: Wire) -> None:
    """Whatever the daemon keeps and logs at its most talkative is searched: database, registry, log."""
    generated = generate(door)
    content, name, words = "the-very-private-content", "the-very-private-name", "the-very-private-query"
    target = path("wings", "w", "rooms", "r", "drawers")
    posted = json.dumps({"content": content, "name": name}).encode()
    assert door.ask("POST", target, posted, {**BEARER, **JSON}).status == 201
    assert door.ask("GET", f"/api/search?q={words}", headers=BEARER).status == 200
    assert door.ask("GET", f"/api/nope?token={words}", headers={**BEARER, "X-Private": words, "Cookie": words}).status == 404
    told = [door.ask("GET", target, headers=BEARER).text for target in ("/api/status", "/api/config", "/api/openapi.json")]
    kept = {file: file.read_bytes() for file in guarded.home.rglob("*") if file.is_file()}
    assert any("state" in file.parts for file in kept)
    assert any("data" in file.parts for file in kept)
    for secret in (TOKEN, generated):
        assert [text for text in told if secret in text] == []
        assert [file for file, written in kept.items() if secret.encode() in written] == []
    assert guarded.process is not None
    assert TOKEN.encode() not in Path(f"/proc/{guarded.process.pid}/cmdline").read_bytes()
    log = guarded.log.read_text()
    for private in (content, words, "0123456789abcdef" * 4, "Bearer"):
        assert private not in log, private


def refused_start(daemon: Daemon) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "serve"],
        cwd=daemon.home,
        env=daemon.environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_a_generated_token_alone_turns_authentication_satisfiable_and_its_revocation_locks_out(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home", {"MEMCASTLE_AUTH_ENABLED": "true"})
    daemon.home.mkdir()
    start = refused_start(daemon)
    assert start.returncode == 1
    assert "memcastle::auth::not_configured" in start.stderr
    assert "MEMCASTLE_AUTH_TOKEN" in start.stderr
    assert "Traceback" not in start.stderr
    assert not list((daemon.home / "state").rglob("daemon.json"))

    daemon.settings = {}
    daemon.start()
    answer: dict[str, Any] = daemon.post("/api/auth/token")
    assert daemon.get("/api/status")["auth_enabled"] is False
    assert daemon.get("/api/wings") == []
    assert daemon.stop() == 0

    daemon.settings = {"MEMCASTLE_AUTH_ENABLED": "true"}
    daemon.start()
    try:
        bearer = {"Authorization": f"Bearer {answer['token']}"}
        unauthorized(daemon.request("GET", "/api/status"), "missing")
        assert daemon.get("/api/status", headers=bearer)["auth_enabled"] is True
        assert daemon.request("DELETE", "/api/auth/token", headers=bearer).json == {"revoked": True}
        unauthorized(daemon.request("GET", "/api/status", headers=bearer), "invalid")
        unauthorized(daemon.request("POST", "/api/shutdown", headers=bearer), "invalid")
        assert daemon.get("/api/health") == {"status": "ok"}
    finally:
        daemon.stop()
