"""Who may come in: pages of this machine and of the Studio, whatever is no page, and only under hosts of this daemon."""

from __future__ import annotations

import http.client
from collections.abc import Mapping

import pytest
from websockets.exceptions import InvalidStatus

from tests.database.support import Endpoint, opened
from tests.support import Daemon, running_daemon

ACCEPTED = (
    "http://localhost",
    "http://localhost:3000",
    "https://app.localhost:8443",
    "http://127.0.0.1:5173",
    "http://127.9.9.9",
    "http://[::1]:80",
    "tauri://localhost",
    "app://surrealdb-studio",
    "APP://SurrealDB-Studio/",
)
REFUSED = (
    "null",
    "file://",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "https://surrealist.app",
    "app://evil",
    "ftp://localhost",
    "http://user@localhost",
    "http://2130706433",
    "http://10.0.0.1",
    "*",
    "x" * 300,
)


def ask(endpoint: Endpoint, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=30)
    try:
        connection.request(method, path, headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("origin", ACCEPTED)
def test_accepted_on_every_route(endpoint: Endpoint, origin: str) -> None:
    for path in ("/health", "/version"):
        status, headers, _ = ask(endpoint, "GET", path, {"Origin": origin})
        assert status == 200
        assert headers["access-control-allow-origin"] == origin
        assert headers["vary"] == "Origin"
    with endpoint.connect(origin=origin):
        pass


@pytest.mark.parametrize("origin", REFUSED)
def test_refused_on_every_route(endpoint: Endpoint, origin: str) -> None:
    for method, path in (("GET", "/health"), ("GET", "/version"), ("GET", "/nope"), ("OPTIONS", "/rpc"), ("POST", "/rpc")):
        status, headers, body = ask(endpoint, method, path, {"Origin": origin})
        assert status == 403
        assert "access-control-allow-origin" not in headers
        assert origin[:100] in body
        assert origin[:101] not in body or len(origin) <= 100
    with pytest.raises(InvalidStatus) as refused, endpoint.connect(origin=origin):
        pass
    if "://" in origin or origin == "null":
        assert refused.value.response.status_code == 403
        assert b"server::origin_refused" in refused.value.response.body
    else:
        # What is no origin at all is no proper handshake.
        assert refused.value.response.status_code == 400


def test_no_origin_is_no_page(endpoint: Endpoint) -> None:
    assert ask(endpoint, "GET", "/health", {})[::2] == (200, "")
    status, headers, body = ask(endpoint, "GET", "/version", {})
    assert (status, body.partition("-")[0]) == (200, "surrealdb")
    assert "access-control-allow-origin" not in headers


def test_preflight(endpoint: Endpoint) -> None:
    asked = {"Origin": "http://localhost:1", "Access-Control-Request-Headers": "authorization, x-a"}
    status, headers, body = ask(endpoint, "OPTIONS", "/anything", asked)
    assert (status, body) == (204, "")
    assert headers["access-control-allow-methods"] == "GET, OPTIONS"
    assert headers["access-control-allow-headers"] == "authorization, x-a"
    assert ask(endpoint, "OPTIONS", "/rpc", {"Origin": "http://localhost"})[1]["access-control-allow-headers"] == "*"


def test_other_routes_do_not_exist(endpoint: Endpoint) -> None:
    for path in ("/", "/sql", "/export", "/import", "/api/wings", "/signin", "/health/"):
        status, _, body = ask(endpoint, "GET", path, {})
        assert (status, "server::route_not_found" in body) == (404, True), path
    for method, path in (("POST", "/rpc"), ("POST", "/health"), ("PUT", "/version")):
        assert ask(endpoint, method, path, {})[0] == 405
    assert ask(endpoint, "GET", "/rpc", {})[0] == 426
    with pytest.raises(InvalidStatus) as refused, endpoint.connect(path="/"):
        pass
    assert refused.value.response.status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", ""])
def test_hosts_of_others_are_refused(endpoint: Endpoint, host: str) -> None:
    """A name that an attacker lets point at 127.0.0.1 arrives with his name in it."""
    for path in ("/health", "/version", "/rpc"):
        assert ask(endpoint, "GET", path, {"Host": host})[0] == 421
    with pytest.raises(InvalidStatus) as refused, endpoint.connect(headers={"Host": host}):
        pass
    assert refused.value.response.status_code in (400, 421)


def test_listed_origins_and_hosts(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = {
        "MEMCASTLE_DB_ALLOWED_ORIGINS": "https://Studio.example/",
        "MEMCASTLE_SERVER_ALLOWED_HOSTS": "castle.example",
    }
    with running_daemon(tmp_path_factory.mktemp("listed") / "home", **settings) as daemon:
        endpoint = opened(daemon, allowed_origins=["app://Mine"])
        for origin in ("https://studio.example", "HTTPS://STUDIO.EXAMPLE", "app://mine/", "http://localhost"):
            assert ask(endpoint, "GET", "/health", {"Origin": origin})[0] == 200, origin
        for origin in ("https://studio.example.evil", "https://a.studio.example", "http://studio.example", "app://mine2"):
            assert ask(endpoint, "GET", "/health", {"Origin": origin})[0] == 403, origin
        assert ask(endpoint, "GET", "/health", {"Host": "castle.example:8000"})[0] == 200


def test_a_page_of_another_site_cannot_open_the_endpoint(daemon: Daemon) -> None:
    answer = daemon.request("POST", "/api/db", {"port": 0}, headers={"Origin": "http://evil.example"})
    assert answer.status == 403
    assert daemon.get("/api/db")["running"] is False
