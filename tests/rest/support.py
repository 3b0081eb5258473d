"""What the tests of the REST door share: requests byte for byte, the routes as the daemon describes them, refusals."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import jobs.errors
import memcastle_site.errors
import mining.errors
import palace.errors
import search.errors
from palace.errors import MemCastleError
from tests.support import PATIENCE_SECONDS, Answer, Daemon

APPS = (jobs.errors, memcastle_site.errors, mining.errors, palace.errors, search.errors)
UNKNOWN_ID = "8d8ac610-566d-4ef0-9c22-186b2a5ed793"
JSON = {"Content-Type": "application/json"}

WING = {"id", "palace", "name", "description", "created_at", "rooms", "drawers"}
ROOM = {"id", "wing", "name", "description", "created_at", "wing_name", "drawers"}
DRAWER = {
    *("id", "room", "name", "content", "content_hash", "source", "tags", "embedding", "provenance"),
    *("valid_from", "valid_to", "created_at", "updated_at"),
}
SUMMARY = {"id", "room", "name", "chars", "preview", "source", "created_at"}
HIT = DRAWER | {"score", "signals", "wing_name", "room_name"}
JOB = {
    *("id", "kind", "status", "priority", "created_at", "started_at", "completed_at", "requested_by", "progress"),
    *("attempt", "recovery_attempts", "max_attempts", "checkpoint", "result", "error"),
    *("lease_owner", "lease_expires_at", "pause_requested", "cancel_requested"),
}


class Wire:
    """A kept-alive connection that sends what it is given, well formed or not."""

    def __init__(self, daemon: Daemon) -> None:
        self._port = daemon.port
        self._socket: socket.socket | None = None

    def ask(self, method: str, target: str | bytes, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """One request. Header values are sent as Latin-1, `Host` and `Content-Length` unless `headers` holds them."""
        given = {"Host": f"127.0.0.1:{self._port}", "Content-Length": str(len(body))} | dict(headers or {})
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items()).encode("latin-1")
        line = b"%s %s HTTP/1.1\r\n" % (method.encode(), target.encode() if isinstance(target, str) else target)
        return self.exchange(line + head + b"\r\n" + body, method)

    def exchange(self, request: bytes, method: str = "GET") -> Answer:
        """Sends these bytes and reads one answer."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), PATIENCE_SECONDS)
        self._socket.sendall(request)
        response = http.client.HTTPResponse(self._socket, method=method)
        response.begin()
        headers = {name.lower(): value for name, value in response.getheaders()}
        answer = Answer(response.status, headers, response.read().decode())
        if response.will_close:
            self.close()
        response.close()
        return answer

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


@dataclass(frozen=True, slots=True)
class Route:
    """An operation of the API as it describes itself."""

    method: str
    path: str
    path_parameters: tuple[str, ...]
    query_parameters: tuple[str, ...]
    body: Mapping[str, Any] | None
    """A JSON body with every required field; None when the route needs none."""
    needs_body: bool = False

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def target(self, value: str = UNKNOWN_ID, **values: str) -> str:
        """The path with its parameters filled in and encoded, those that are not named with `value`."""
        filled = {name: quote(values.get(name, value), safe="") for name in self.path_parameters}
        return self.path.format(**filled)


def routes(daemon: Daemon, headers: Mapping[str, str] | None = None) -> list[Route]:
    """Every operation of the daemon's own description."""
    description = daemon.get("/api/openapi.json", headers=headers)
    schemas = description["components"]["schemas"]
    return [
        Route(
            method.upper(),
            path,
            tuple(_named(operation, "path")),
            tuple(_named(operation, "query")),
            _smallest(_body_schema(operation), schemas) if operation.get("requestBody", {}).get("required") else None,
            needs_body=operation.get("requestBody", {}).get("required", False),
        )
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    ]


def _named(operation: Mapping[str, Any], place: str) -> Iterator[str]:
    return (parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == place)


def _body_schema(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]
    return schema


def _smallest(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Any:
    """A value that the schema accepts, with nothing in it that may be left out."""
    if "$ref" in schema:
        return _smallest(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "const" in schema:
        return schema["const"]
    for alternatives in ("oneOf", "anyOf", "enum"):
        if alternatives in schema:
            first = schema[alternatives][0]
            return first if alternatives == "enum" else _smallest(first, schemas)
    if "allOf" in schema:
        parts = [_smallest(part, schemas) for part in schema["allOf"]]
        return {name: value for part in parts for name, value in part.items()}
    if schema.get("type", "object") == "object":
        fields = schema.get("properties", {})
        return {name: _smallest(fields[name], schemas) for name in schema.get("required", ())}
    return {"string": "probe", "integer": 1, "number": 1, "boolean": False, "array": [], "null": None}[schema["type"]]


def codes() -> dict[str, int]:
    """Every code of the catalogue with its status."""
    named = (error for app in APPS for error in vars(app).values() if isinstance(error, type))
    errors = (error for error in named if issubclass(error, MemCastleError) and error is not MemCastleError)
    return {error.code: error.status for error in errors}


def problem_with_refusal(answer: Answer, *, head: bool = False) -> str | None:
    """Why an answer is no refusal as every door gives it, or None when it is one."""
    if not 400 <= answer.status < 500:
        return f"status {answer.status}: {answer.text[:200]}"
    if answer.headers.get("content-type", "").partition(";")[0] != "application/json":
        return f"content type {answer.headers.get('content-type')}: {answer.text[:200]}"
    if head:
        return f"a body: {answer.text[:200]}" if answer.text else None
    try:
        body = answer.json
    except json.JSONDecodeError:
        return f"no JSON: {answer.text[:200]}"
    if not isinstance(body, dict) or set(body) != {"error", "code", "help"}:
        return f"another shape: {answer.text[:200]}"
    if codes().get(body["code"]) != answer.status:
        return f"{answer.status} with the code {body['code']}"
    if not all(isinstance(body[key], str) and body[key] for key in body):
        return f"an empty part: {answer.text[:200]}"
    return "a traceback" if "Traceback" in answer.text else None


def refused(answer: Answer, status: int, code: str, blamed: str | None = None) -> None:
    """Asserts a refusal with this code (without its prefix), on this field."""
    problem = problem_with_refusal(answer)
    assert problem is None, problem
    assert (answer.status, answer.json["code"]) == (status, f"memcastle::{code}"), answer.text
    if blamed is not None:
        assert answer.json["error"].startswith(f"{blamed}: "), answer.text


def path(*parts: str) -> str:
    """`/api/…` with every part encoded, slashes included."""
    return "/api/" + "/".join(quote(part, safe="") for part in parts)


def faults_in_log(daemon: Daemon, marks: Iterable[str] = ("Traceback", " error ")) -> list[str]:
    """Lines of the daemon's log that tell of a fault."""
    return [line for line in daemon.log.read_text().splitlines() if any(mark in line for mark in marks)]
