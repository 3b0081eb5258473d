"""Whatever is wrong with a request, the answer is a 4xx with `{error, code, help}`.

Each test sends one kind of wrong request to every route that the daemon describes, so a new route joins by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

import pytest

from tests.rest.support import JSON, Route, Wire, codes, problem_with_refusal, refused
from tests.support import Answer, Daemon

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
MEBIBYTE = 1024 * 1024
SHUTDOWN = "/api/shutdown"


def everywhere(routes: Iterable[Route], asked: Callable[[Route], Answer], blamed: str | None = None) -> None:
    """Asserts that every one of these routes refuses as it must."""
    problems = []
    checked = 0
    for route in routes:
        answer = asked(route)
        problem = problem_with_refusal(answer)
        if problem is None and blamed is not None and not answer.json["error"].startswith(f"{blamed}: "):
            problem = f"blames {answer.json['error']}"
        if problem is not None:
            problems.append(f"{route}: {problem}")
        checked += 1
    assert checked
    assert problems == []


def with_body(routes: Iterable[Route]) -> list[Route]:
    return [route for route in routes if route.body is not None]


def test_methods_that_a_route_does_not_have(every_route: list[Route], wire: Wire) -> None:
    methods: dict[str, set[str]] = {}
    for route in every_route:
        methods.setdefault(route.target(), set()).add(route.method)
    methods |= {"/api/docs": {"GET", *METHODS}, "/api/openapi.json": {"GET", *METHODS}}
    for target, own in methods.items():
        for method in set(METHODS) - own:
            answer = wire.ask(method, target)
            problem = problem_with_refusal(answer, head=method == "HEAD")
            assert problem is None, f"{method} {target}: {problem}"
            assert answer.status == 405
            assert set(answer.headers["allow"].split(", ")) == own


BODIES = {
    "nothing": b"",
    "white space": b" \n",
    "half an object": b'{"name": ',
    "two values": b"{} {}",
    "single quotes": b"{'name': 'a'}",
    "a trailing comma": b'{"name": "a",}',
    "NaN": b'{"name": NaN, "content": NaN, "steps": NaN, "limit": NaN}',
    "infinity": b'{"name": -Infinity}',
    "a number of 5000 digits": b'{"name": %s, "limit": 1}' % (b"9" * 5000),
    "a lone surrogate": b'{"name": "\\ud800", "content": "\\udfff", "text": "a"}',
    "a lone surrogate in a key": b'{"\\ud800": 1}',
    "bytes that are no UTF-8": b'{"name": "\xff\xfe"}',
    "UTF-16": '{"name": "a"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"name": "a"}',
    "an array": b"[]",
    "an array of the right object": b'[{"name": "a", "content": "a", "type": "demo", "steps": 1}]',
    "null": b"null",
    "a string": b'"name"',
    "a number": b"1",
    "arrays nested 100,000 deep": b"[" * 100_000 + b"]" * 100_000,
    "objects nested 100,000 deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "arrays that never close": b"[" * 100_000,
    "a form": b"name=a&content=b",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_bodies_that_are_no_json_object(every_route: list[Route], wire: Wire, body: bytes) -> None:
    asked = [route for route in with_body(every_route) if body or route.needs_body]
    everywhere(asked, lambda route: wire.ask(route.method, route.target("probe"), body, JSON), "body")


CONTENT_TYPES: dict[str, Mapping[str, str]] = {
    "none": {},
    "an empty one": {"Content-Type": ""},
    "plain text": {"Content-Type": "text/plain"},
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "a broken multipart form": {"Content-Type": "multipart/form-data; boundary=x"},
    "another JSON": {"Content-Type": "application/json-seq"},
}


@pytest.mark.parametrize("headers", CONTENT_TYPES.values(), ids=list(CONTENT_TYPES))
def test_json_without_its_content_type(every_route: list[Route], wire: Wire, headers: Mapping[str, str]) -> None:
    def asked(route: Route) -> Answer:
        return wire.ask(route.method, route.target("probe"), json.dumps(route.body).encode(), headers)

    everywhere(with_body(every_route), asked, "body")


@pytest.mark.parametrize("value", [None, 1, True, [], {}, ["a"], {"a": 1}, 1e300], ids=repr)
def test_required_fields_of_another_type(every_route: list[Route], wire: Wire, value: object) -> None:
    def asked(route: Route) -> Answer:
        assert route.body is not None
        wrong = {name: "text" if isinstance(right, int) else value for name, right in route.body.items()}
        return wire.ask(route.method, route.target("probe"), json.dumps(wrong).encode(), JSON)

    everywhere([route for route in every_route if route.body], asked, "body")


def test_required_fields_left_out(every_route: list[Route], wire: Wire) -> None:
    demanding = [route for route in every_route if route.body]
    everywhere(demanding, lambda route: wire.ask(route.method, route.target("probe"), b"{}", JSON), "body")


def test_text_that_holds_a_nul_character(every_route: list[Route], wire: Wire) -> None:
    def asked(route: Route) -> Answer:
        assert route.body is not None
        wrong = {name: "a\0b" if isinstance(right, str) else right for name, right in route.body.items()}
        return wire.ask(route.method, route.target("probe"), json.dumps(wrong).encode(), JSON)

    everywhere([route for route in every_route if route.body], asked)


def test_bodies_of_three_mebibytes_are_refused_by_every_route(every_route: list[Route], wire: Wire) -> None:
    body = b'{"name": "%s"}' % (b"a" * (3 * MEBIBYTE))
    for route in every_route:
        answer = wire.ask(route.method, route.target("probe"), body, JSON)
        refused(answer, 400, "input::invalid", "body")


def test_bodies_of_three_mebibytes_in_pieces_of_unknown_number(every_route: list[Route], wire: Wire) -> None:
    piece = b"%x\r\n%s\r\n" % (MEBIBYTE, b"a" * MEBIBYTE)
    for route in with_body(every_route):
        head = f"{route.method} {route.target('probe')} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        answer = wire.exchange(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + piece * 3 + b"0\r\n\r\n")
        refused(answer, 400, "input::invalid", "body")


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "99999999999999999999"])
def test_lengths_that_are_no_length(wire: Wire, length: str) -> None:
    refused(wire.ask("POST", "/api/wings", b"", {"Content-Length": length, **JSON}), 400, "input::invalid")


def test_ids_that_nothing_has(every_route: list[Route], wire: Wire) -> None:
    def asked(route: Route) -> Answer:
        return wire.ask(route.method, route.target(), json.dumps(route.body).encode(), JSON)

    referring = [route for route in every_route if route.path_parameters]
    everywhere(referring, asked)
    assert {asked(route).status for route in referring} == {404}


MALFORMED = {
    "a word": "nonsense",
    "a UUID cut short": "8d8ac610-566d-4ef0-9c22-186b2a5ed79",
    "a UUID with white space": " 8d8ac610-566d-4ef0-9c22-186b2a5ed793",
    "dots": "..",
    "a NUL character": "\0",
    "a line break": "a\r\nb",
    "quotes and brackets": "'\"`<>{}[]();",
    "a record id": "job:8d8ac610",
    "another script": "图数据库",
    "4000 characters": "a" * 4000,
}


@pytest.mark.parametrize("value", MALFORMED.values(), ids=list(MALFORMED))
def test_ids_and_names_that_are_neither(every_route: list[Route], wire: Wire, value: str) -> None:
    """What names a place may be any text, so it is not found; what must be an id is refused by its shape."""
    reading = [route for route in every_route if route.path_parameters and route.body is None]
    everywhere(reading, lambda route: wire.ask(route.method, route.target(value)))
    for route in reading:
        answer = wire.ask(route.method, route.target(value))
        by_id_only = any(name.endswith("_id") or name == "id" for name in route.path_parameters)
        assert answer.status == (400 if by_id_only else 404), f"{route}: {answer.text[:200]}"


@pytest.mark.parametrize("target", ["%ff", "%ED%A0%80", "%", "%zz", "%2", "%u0041"])
def test_percent_signs_that_encode_nothing(every_route: list[Route], wire: Wire, target: str) -> None:
    reading = [route for route in every_route if route.path_parameters and route.body is None]

    def asked(route: Route) -> Answer:
        return wire.ask(route.method, route.path.format(**dict.fromkeys(route.path_parameters, target)))

    everywhere(reading, asked)


def changed_paths(route: Route) -> list[str]:
    right = route.target("probe")
    return [
        f"{right}/",
        f"{right}//",
        f"{right}%2F",
        right.replace("/api/", "/api//"),
        right.replace("/api/", "/api/./"),
        right.replace("/api/", "/api/v1/"),
        right.replace("/api/", "/api/x/../"),
        "/api" + right.removeprefix("/api").upper(),
    ]


def test_paths_that_almost_name_a_route(every_route: list[Route], wire: Wire) -> None:
    for route in every_route:
        for target in changed_paths(route):
            answer = wire.ask(route.method, target, b"", JSON)
            problem = problem_with_refusal(answer)
            assert problem is None, f"{route.method} {target}: {problem}"


@pytest.mark.parametrize(
    "target",
    [
        *("/api", "/api/", "/api//", "/api/nope", "/api/nope/", "/api/%00", "/api/..", "/api/../etc/passwd"),
        *(
            "/api/wings%2F",
            "/api/wings%0A",
            "/api/a%0D%0Ab",
            "/api/docs/",
            "/api/openapi.json/",
            "/api/openapi.yaml",
            "/api/static/app.css",
        ),
        *("/api/" + "a" * 8000, "/api" + "/a" * 4000),
    ],
    ids=lambda target: target[:40],
)
@pytest.mark.parametrize("method", ["GET", "POST", "BREW"])
def test_paths_below_api_that_no_route_has(wire: Wire, method: str, target: str) -> None:
    refused(wire.ask(method, target), 404, "server::route_not_found")


def test_paths_longer_than_a_request_head(every_route: list[Route], wire: Wire) -> None:
    for route in every_route:
        answer = wire.ask(route.method, route.target("probe") + "?x=" + "a" * 17_000)
        refused(answer, 400, "input::invalid", "request")


def test_bytes_that_are_no_request(wire: Wire) -> None:
    for request in (
        b"GET /api/wings\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET /api/a b HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
    ):
        refused(wire.exchange(request), 400, "input::invalid", "request")
        wire.close()


def test_a_mode_that_does_not_exist(every_route: list[Route], wire: Wire) -> None:
    """Routes that do not care for the mode do not read it; those are listed in test_memory_modes."""
    for mode in ("readonly", "FULL", " full x", "", "off", "full,full", "f\xfcll"):
        for route in every_route:
            if route.path == SHUTDOWN:
                continue
            body = json.dumps(route.body).encode() if route.body is not None else b""
            answer = wire.ask(route.method, route.target(), body, {**JSON, "X-MemCastle-Mode": mode})
            if answer.status != 200:
                problem = problem_with_refusal(answer)
                assert problem is None, f"{route} as {mode!r}: {problem}"


def test_query_parameters_given_twice(every_route: list[Route], wire: Wire) -> None:
    for route in every_route:
        for name in route.query_parameters:
            answer = wire.ask(route.method, f"{route.target('probe')}?q=a&{name}=1&{name}=1")
            refused(answer, 400, "input::invalid", "query")
            assert f"{name}: it is given " in answer.json["error"]
    assert wire.ask("GET", "/api/search?q=a&nonsense=1&nonsense=2").status == 200


@pytest.mark.parametrize("limit", ["abc", "-1", "-0.5", "1.5", "1e3", "0x10", "", "%20", "NaN", "null", str(2**32), "9" * 400])
def test_limits_that_are_no_number_of_rows(every_route: list[Route], wire: Wire, limit: str) -> None:
    listing = [route for route in every_route if "limit" in route.query_parameters]
    everywhere(listing, lambda route: wire.ask(route.method, f"{route.target('probe')}?q=a&limit={limit}"), "query")


@pytest.mark.parametrize("limit", ["0", "1", "200", "201", "100000", str(2**32 - 1)])
def test_limits_of_any_size_are_accepted(every_route: list[Route], wire: Wire, limit: str) -> None:
    for route in every_route:
        if "limit" in route.query_parameters:
            answer = wire.ask(route.method, f"{route.target('probe')}?q=a&limit={limit}")
            assert answer.status == (404 if route.path_parameters else 200), answer.text


@pytest.mark.parametrize("flag", ["1", "0", "yes", "", "True", "TRUE", "null", "true%20", "on"])
@pytest.mark.parametrize("name", ["expand", "include_historical"])
def test_booleans_other_than_true_and_false(wire: Wire, name: str, flag: str) -> None:
    refused(wire.ask("GET", f"/api/search?q=a&{name}={flag}"), 400, "input::invalid", "query")


def test_more_query_parameters_than_anyone_needs(every_route: list[Route], wire: Wire) -> None:
    crowd = "&".join(f"{number:x}" for number in range(2000))
    for route in every_route:
        if route.path == SHUTDOWN:
            continue
        answer = wire.ask(route.method, f"{route.target('probe')}?{crowd}", json.dumps(route.body or {}).encode(), JSON)
        assert answer.status < 500, f"{route}: {answer.text}"
    refused(wire.ask("GET", f"/api/search?q=a&{crowd}"), 400, "input::invalid", "query")


def test_unknown_query_parameters_and_headers_are_ignored(every_route: list[Route], wire: Wire) -> None:
    for route in every_route:
        if route.method == "GET" and not route.path_parameters:
            needed = "q=a&" if "q" in route.query_parameters else ""
            answer = wire.ask("GET", f"{route.target()}?{needed}nonsense=1&page=%ff&[]=2", headers={"X-Nonsense": "1"})
            assert answer.status == 200, f"{route}: {answer.text}"


def _text(content: str) -> bytes:
    return json.dumps({"content": content}).encode()


def test_unknown_body_fields_are_ignored(every_route: list[Route], wire: Wire) -> None:
    for route in with_body(every_route):
        known = json.dumps({**(route.body or {}), "nonsense": {"deep": [None]}, "": 1, "limit_": -1}).encode()
        drawer = wire.ask("POST", "/api/wings/unknown%20fields/rooms/r/drawers", _text(str(route)), JSON)
        target = route.target("unknown fields", drawer_id=drawer.json["id"])
        answer = wire.ask(route.method, target, known, JSON)
        assert answer.status in (200, 201), f"{route}: {answer.text}"


def test_a_body_that_no_route_reads_is_ignored(every_route: list[Route], wire: Wire) -> None:
    for route in every_route:
        # The body of /api/db may be left out, but is read.
        if route.body is None and route.path not in (SHUTDOWN, "/api/db"):
            bare = wire.ask(route.method, route.target() + "?q=a")
            full = wire.ask(route.method, route.target() + "?q=a", b"{nonsense", JSON)
            assert full.status == bare.status, f"{route}: {full.text}"


def test_the_right_content_type_may_carry_parameters_and_capitals(wire: Wire) -> None:
    for content_type in ("application/json; charset=utf-8", "Application/JSON", "application/json;charset=latin-1"):
        answer = wire.ask("POST", "/api/search", '{"text": "äöüäöü"}'.encode(), {"Content-Type": content_type})
        assert (answer.status, answer.json) == (200, [])


def test_no_refusal_ends_the_connection_for_the_next_request(rest: Daemon, wire: Wire) -> None:
    assert wire.ask("POST", "/api/wings", b"{", JSON).status == 400
    opened = wire._socket
    assert wire.ask("GET", "/api/nope").status == 404
    assert wire.ask("GET", "/api/health").json == {"status": "ok"}
    assert wire._socket is opened


def test_every_code_of_the_catalogue_is_well_formed() -> None:
    for code, status in codes().items():
        prefix, module, kind = code.split("::")
        assert prefix == "memcastle"
        assert module.replace("_", "").isalpha()
        assert kind.replace("_", "").isalpha()
        assert 400 <= status < 600
