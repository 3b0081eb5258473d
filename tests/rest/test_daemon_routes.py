"""Health, status, configuration and the description of the API, and what every answer carries."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from memcastle_site import __version__
from tests.rest.support import JSON, Route, Wire, path
from tests.support import Daemon

STATUS = {
    *("version", "uptime_secs", "palace_name", "drawer_count", "jobs_queued", "jobs_running", "jobs_paused", "mode"),
    *("pid", "started_at", "bind_addr", "palace_path", "datastore", "health", "auth_enabled"),
}
DATASTORE = {"ok", "backend", "location", "error", "migration_version", "latest_version", "pending"}
CONFIG = {"bind_addr", "palace_path", "backend", "location", "auth_enabled", "web", "jobs", "mining"}


def test_health_says_ok_and_nothing_else(wire: Wire) -> None:
    answer = wire.ask("GET", "/api/health")
    assert (answer.status, answer.json) == (200, {"status": "ok"})
    assert wire.ask("GET", "/api/health?nonsense=1", headers={"X-MemCastle-Mode": "bogus"}).status == 200


def test_status_tells_of_a_daemon_that_is_well(rest: Daemon) -> None:
    assert rest.process is not None
    status = rest.get("/api/status")
    assert set(status) == STATUS
    assert (status["version"], status["pid"], status["mode"]) == (__version__, rest.process.pid, "full")
    assert (status["palace_name"], status["auth_enabled"]) == ("default", False)
    assert status["bind_addr"] == f"127.0.0.1:{rest.port}"
    assert status["started_at"].endswith("Z")
    assert isinstance(status["uptime_secs"], int)
    assert Path(status["palace_path"]).is_relative_to(rest.home)
    datastore = status["datastore"]
    assert set(datastore) == DATASTORE
    assert (datastore["ok"], datastore["backend"], datastore["error"], datastore["pending"]) == (True, "embedded", None, [])
    assert datastore["migration_version"] == datastore["latest_version"]
    assert Path(datastore["location"]).is_relative_to(status["palace_path"])


def test_status_counts_what_is_there(rest: Daemon) -> None:
    before = rest.get("/api/status")["drawer_count"]
    target = path("wings", "counted", "rooms", "r", "drawers")
    for number in range(3):
        rest.post(target, {"content": f"counted {number}"})
    rest.post(target, {"content": "counted 0"})
    assert rest.get("/api/status")["drawer_count"] == before + 3
    assert before + 3 == sum(wing["drawers"] for wing in rest.get("/api/wings"))


def test_config_reports_what_is_in_force_and_no_secret(rest: Daemon) -> None:
    config = rest.get("/api/config")
    status = rest.get("/api/status")
    assert set(config) == CONFIG
    assert {key: config[key] for key in ("bind_addr", "palace_path", "auth_enabled")} == {
        key: status[key] for key in ("bind_addr", "palace_path", "auth_enabled")
    }
    assert (config["backend"], config["location"]) == (status["datastore"]["backend"], status["datastore"]["location"])
    assert config["web"] == {"enabled": True}
    assert config["jobs"]["max_concurrency"] == 1
    assert set(config["jobs"]) == {"max_concurrency", "background_concurrency", "drain_timeout_secs", "lease_ttl_secs"}
    assert set(config["mining"]) == {"chunk_chars", "max_file_bytes", "max_documents"}
    assert "token" not in json.dumps(config)


def test_the_api_describes_itself(rest: Daemon, every_route: list[Route]) -> None:
    description = rest.get("/api/openapi.json")
    assert description["info"]["version"] == __version__
    for operations in description["paths"].values():
        for operation in operations.values():
            assert operation["description"].strip()
            assert operation["responses"].keys() <= {200, 201, "200", "201"}
    page = rest.request("GET", "/api/docs")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    for route in every_route:
        assert route.path in page.text


def test_the_page_of_the_api_loads_nothing_from_elsewhere(rest: Daemon) -> None:
    page = rest.request("GET", "/api/docs")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "https://" not in page.text
    assert "<script" not in page.text


@pytest.mark.parametrize(
    "target", ["/api/health", "/api/nope", "/api/jobs/nonsense", "/api/docs", "/ui/", "/static/x", "/nope"]
)
def test_the_request_id_of_the_client_is_given_back(wire: Wire, target: str) -> None:
    assert wire.ask("GET", target, headers={"X-Request-Id": "my-request.1"}).headers["x-request-id"] == "my-request.1"


@pytest.mark.parametrize("unfit", ["", "a b", "x" * 129, "é", "a\tb"])
def test_a_request_id_that_is_none_or_no_good_is_replaced(wire: Wire, unfit: str) -> None:
    given = [wire.ask("GET", "/api/health", headers={"X-Request-Id": unfit}).headers["x-request-id"] for _ in range(2)]
    given += [wire.ask("GET", "/api/health").headers["x-request-id"]]
    assert len({str(uuid.UUID(id)) for id in given}) == 3


def test_the_log_names_a_refusal_by_the_request_id_and_not_by_what_was_asked(rest: Daemon, wire: Wire) -> None:
    wire.ask("GET", "/api/wings/a-private-name?private=1", headers={"X-Request-Id": "logged-1", "X-Private": "2"})
    (line,) = [line for line in rest.log.read_text().splitlines() if "request_id=logged-1" in line]
    assert "code=memcastle::palace::wing_not_found" in line
    assert "private" not in line


@pytest.mark.parametrize(("target", "body"), [("/api/wings", None), ("/api/nope", None), ("/api/search", b'{"text": "a"}')])
def test_every_answer_forbids_guessing_framing_and_leaking(wire: Wire, target: str, body: bytes | None) -> None:
    answer = wire.ask("GET" if body is None else "POST", target, body or b"", JSON)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["content-type"].partition(";")[0] == "application/json"


def test_answers_come_as_utf8_text(rest: Daemon) -> None:
    rest.post("/api/wings", {"name": "图 é 🜁"})
    assert "图 é 🜁" in [wing["name"] for wing in rest.get("/api/wings")]


def test_reading_leaves_a_new_palace_as_it_was(rest: Daemon, every_route: list[Route]) -> None:
    before = rest.get("/api/wings"), rest.get("/api/jobs"), rest.get("/api/sources")
    for route in every_route:
        if route.method == "GET":
            rest.request("GET", route.target("never created") + "?q=a")
    assert (rest.get("/api/wings"), rest.get("/api/jobs"), rest.get("/api/sources")) == before
