"""What each mode refuses: by route, under the operation's own name, before the store is looked at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.rest.support import JSON, UNKNOWN_ID, Route, Wire, path, refused
from tests.support import Answer, Daemon

READ, WRITE = "read", "write"
GATED = {
    "GET /api/wings": (READ, "wing_list"),
    "POST /api/wings": (WRITE, "wing_create"),
    "GET /api/wings/{wing}": (READ, "wing_show"),
    "DELETE /api/wings/{wing}": (WRITE, "wing_delete"),
    "GET /api/wings/{wing}/rooms": (READ, "room_list"),
    "POST /api/wings/{wing}/rooms": (WRITE, "room_create"),
    "GET /api/wings/{wing}/rooms/{room}": (READ, "room_show"),
    "DELETE /api/wings/{wing}/rooms/{room}": (WRITE, "room_delete"),
    "GET /api/wings/{wing}/rooms/{room}/drawers": (READ, "drawer_list"),
    "POST /api/wings/{wing}/rooms/{room}/drawers": (WRITE, "drawer_create"),
    "GET /api/wings/{wing}/rooms/{room}/drawers/{drawer}": (READ, "drawer_show"),
    "DELETE /api/wings/{wing}/rooms/{room}/drawers/{drawer}": (WRITE, "drawer_delete"),
    "POST /api/drawers/{drawer_id}/supersede": (WRITE, "drawer_supersede"),
    "GET /api/drawers/{drawer_id}/history": (READ, "history"),
    "GET /api/jobs": (READ, "job_list"),
    "GET /api/jobs/{job_id}": (READ, "job_get"),
    "GET /api/jobs/{job_id}/log": (READ, "job_get"),
    "GET /api/search": (READ, "search"),
    "POST /api/search": (READ, "search"),
    "GET /api/sources": (READ, "source_list"),
}
UNGATED = {
    *("GET /api/db", "POST /api/db", "DELETE /api/db"),
    *("GET /api/health", "GET /api/config", "POST /api/shutdown", "POST /api/auth/token", "DELETE /api/auth/token"),
    *(f"POST /api/jobs/{{job_id}}/{control}" for control in ("pause", "resume", "cancel", "force-cancel", "retry")),
}
HEADER_READ_ALL_THE_SAME = {"GET /api/status", "POST /api/jobs"}


@dataclass(frozen=True, slots=True)
class Asker:
    """Sends well-formed requests in a mode."""

    wire: Wire

    def ask(self, route: Route, mode: str) -> Answer:
        query = "?q=word" if "q" in route.query_parameters else ""
        body = json.dumps(route.body).encode() if route.body is not None else b""
        return self.wire.ask(route.method, route.target() + query, body, {**JSON, "X-MemCastle-Mode": mode})


@pytest.fixture
def asker(wire: Wire) -> Asker:
    return Asker(wire)


def test_every_route_is_known_here(every_route: list[Route]) -> None:
    assert {str(route) for route in every_route} == GATED.keys() | UNGATED | HEADER_READ_ALL_THE_SAME


def test_each_mode_refuses_what_it_must_by_the_name_of_the_operation(every_route: list[Route], asker: Asker) -> None:
    for route in every_route:
        kind, operation = GATED.get(str(route), (None, ""))
        for mode, refuses in (("disabled", (READ, WRITE)), ("read_only", (WRITE,))):
            if kind in refuses:
                answer = asker.ask(route, mode)
                refused(answer, 403, "mode::forbidden")
                assert operation in answer.json["error"].split(), answer.text
                assert mode in answer.json["error"], answer.text


def test_reading_is_open_in_read_only_mode(every_route: list[Route], asker: Asker) -> None:
    for route in every_route:
        if GATED.get(str(route), ("", ""))[0] == READ:
            assert asker.ask(route, "read_only").status == (404 if route.path_parameters else 200), str(route)


def test_ungated_routes_do_not_read_the_header(every_route: list[Route], asker: Asker) -> None:
    for route in every_route:
        if str(route) in UNGATED and route.path != "/api/shutdown":
            for mode in ("disabled", "bogus"):
                assert asker.ask(route, mode).status == (404 if route.path_parameters else 200), str(route)


def test_gated_routes_refuse_a_mode_that_does_not_exist_by_listing_those_that_do(
    every_route: list[Route], asker: Asker
) -> None:
    for route in every_route:
        if str(route) not in UNGATED:
            answer = asker.ask(route, "readonly")
            refused(answer, 400, "input::invalid", "x-memcastle-mode")
            assert "full, read_only, disabled" in answer.json["error"]


def test_the_header_of_the_mode_has_no_case_and_its_value_does(wire: Wire) -> None:
    refused(wire.ask("GET", "/api/wings", headers={"x-MEMCASTLE-mOdE": "disabled"}), 403, "mode::forbidden")
    assert wire.ask("GET", "/api/wings", headers={"X-MemCastle-Mode": "full"}).status == 200
    refused(wire.ask("GET", "/api/wings", headers={"X-MemCastle-Mode": "Full"}), 400, "input::invalid", "x-memcastle-mode")


def test_the_mode_of_one_request_is_not_that_of_the_next(wire: Wire) -> None:
    refused(wire.ask("GET", "/api/wings", headers={"X-MemCastle-Mode": "disabled"}), 403, "mode::forbidden")
    assert wire.ask("GET", "/api/wings").status == 200


def test_status_reports_the_mode_and_refuses_none(wire: Wire) -> None:
    assert wire.ask("GET", "/api/status").json["mode"] == "full"
    for mode in ("full", "read_only", "disabled"):
        assert wire.ask("GET", "/api/status", headers={"X-MemCastle-Mode": mode}).json["mode"] == mode


JOBS: dict[str, dict[str, Any]] = {
    "demo": {"type": "demo", "steps": 0},
    "audit": {"type": "audit"},
    "mine": {"type": "mine", "path": "/nowhere/at/all"},
}


@pytest.mark.parametrize("mode", ["read_only", "disabled"])
def test_mining_writes_and_the_other_jobs_do_not(rest: Daemon, wire: Wire, mode: str) -> None:
    def submitted(type_: str) -> Answer:
        return wire.ask("POST", "/api/jobs", json.dumps(JOBS[type_]).encode(), {**JSON, "X-MemCastle-Mode": mode})

    answer = submitted("mine")
    refused(answer, 403, "mode::forbidden")
    assert "mine" in answer.json["error"].split()
    for type_ in ("demo", "audit"):
        assert submitted(type_).status == 200
    assert not [job for job in rest.get("/api/jobs?kind=mine") if job["kind"].get("path") == "/nowhere/at/all"]


@pytest.mark.parametrize("body", JOBS.values(), ids=list(JOBS))
def test_the_mode_header_is_read_for_jobs_of_every_kind(wire: Wire, body: dict[str, Any]) -> None:
    answer = wire.ask("POST", "/api/jobs", json.dumps(body).encode(), {**JSON, "X-MemCastle-Mode": "off"})
    refused(answer, 400, "input::invalid", "x-memcastle-mode")


def test_what_has_the_wrong_shape_is_refused_for_its_shape_before_the_mode(wire: Wire, tmp_path: Path) -> None:
    disabled = {**JSON, "X-MemCastle-Mode": "disabled"}
    refused(wire.ask("GET", "/api/jobs/nonsense", headers=disabled), 400, "jobs::id_invalid")
    refused(wire.ask("GET", f"/api/jobs/{UNKNOWN_ID}", headers=disabled), 403, "mode::forbidden")
    refused(wire.ask("GET", "/api/jobs?status=done", headers=disabled), 400, "input::invalid", "status")
    refused(wire.ask("GET", "/api/jobs?limit=x", headers=disabled), 400, "input::invalid", "query")
    refused(wire.ask("GET", "/api/search", headers=disabled), 400, "input::invalid", "query")
    refused(wire.ask("GET", "/api/search?q=a&ranking=best", headers=disabled), 400, "input::invalid", "ranking")
    refused(wire.ask("GET", "/api/search?q=a&as_of=soon", headers=disabled), 400, "input::invalid", "as_of")
    refused(wire.ask("POST", "/api/search", b'{"ranking": "best"}', disabled), 400, "input::invalid", "body")
    refused(wire.ask("POST", "/api/wings", b"{", disabled), 400, "input::invalid", "body")
    refused(wire.ask("POST", "/api/jobs", b'{"type": "mine", "path": 1}', disabled), 400, "input::invalid", "body")


def test_the_mode_is_refused_before_meaning_and_before_anything_is_looked_up(rest: Daemon, wire: Wire) -> None:
    read_only = {**JSON, "X-MemCastle-Mode": "read_only"}
    for target, body in (
        ("/api/wings", b'{"name": "a/b"}'),
        ("/api/wings", b'{"name": ""}'),
        (f"/api/wings/{UNKNOWN_ID}/rooms", b'{"name": "a"}'),
        ("/api/wings/w/rooms/r/drawers", b'{"content": "  "}'),
        ("/api/wings/w/rooms/r/drawers", b'{"content": "a", "name": "../a"}'),
        ("/api/jobs", b'{"type": "mine", "path": "relative"}'),
    ):
        refused(wire.ask("POST", target, body, read_only), 403, "mode::forbidden")
    for target in (
        path("wings", UNKNOWN_ID),
        path("wings", "w", "rooms", "r"),
        path("wings", "w", "rooms", "r", "drawers", "d"),
    ):
        refused(wire.ask("DELETE", target, headers=read_only), 403, "mode::forbidden")
    refused(
        wire.ask("GET", "/api/search?q=a&ranking=semantic", headers={"X-MemCastle-Mode": "disabled"}), 403, "mode::forbidden"
    )
    assert "w" not in [wing["name"] for wing in rest.get("/api/wings")]


def test_meaning_is_refused_before_anything_is_looked_up(wire: Wire) -> None:
    drawers = path("wings", UNKNOWN_ID, "rooms", "r", "drawers")
    refused(wire.ask("POST", drawers, b'{"content": " \\n"}', JSON), 400, "input::invalid", "content")
    refused(wire.ask("POST", drawers, b'{"content": "a", "name": "a//b"}', JSON), 400, "palace::path_invalid")
    refused(wire.ask("POST", drawers, b'{"content": "a"}', JSON), 404, "palace::wing_not_found")
