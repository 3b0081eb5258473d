"""docs/rest.md tells of every route with all it takes and answers, and no page of a route that does not exist."""

from __future__ import annotations

import re
from typing import Any

import pytest

from jobs.wiring import AUDIT, CHECKPOINT, DEMO, REPAIR
from memcastle_site.api import api
from memcastle_site.events import EVENTS_PATH
from mining.adapters.registry import adapters
from mining.domain.contract import SkipReason
from mining.domain.stats import MiningStats
from mining.wiring import MINE
from tests.docs.pages import headings, page, pages, rows, section, spans, words_in_code

PAGE = page("rest.md")
SCHEMA = api.get_openapi_schema()
OPERATIONS: dict[str, dict[str, Any]] = {
    f"{method.upper()} {path}": operation for path, methods in SCHEMA["paths"].items() for method, operation in methods.items()
}
OWN_PAGES = ("/api/docs", "/api/openapi.json")
# A stream is no operation of the API's description.
STREAMS = (EVENTS_PATH,)
_MENTIONED = re.compile(r"(?<![A-Za-z_.])/api(?:/[\w.{}~%-]+)*")
_METHOD = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (/api/[\w./{}-]+)")


def template(path: str) -> re.Pattern[str]:
    """Matches what a path with `{parameters}` stands for; a drawer takes the rest of the path."""
    pattern = re.sub(r"\\\{(\w+)\\\}", lambda found: ".+" if found[1] == "drawer" else "[^/]+", re.escape(path))
    return re.compile(pattern)


TEMPLATES = [template(path) for path in (*SCHEMA["paths"], *OWN_PAGES, *STREAMS)]


def body_fields(operation: dict[str, Any]) -> set[str]:
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    while "$ref" in schema:
        schema = SCHEMA["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    fields = set()
    for name, field in schema.get("properties", {}).items():
        inner = field.get("properties")
        fields |= {f"{name}.{below}" for below in inner} if inner else {name}
    return fields


def named_in(text: str) -> set[str]:
    """What a section names: in the first column of its tables, or anywhere when it has none."""
    columns = " ".join(row[0] for row in rows(text))
    return words_in_code(columns or text)


def test_every_operation_has_a_section_and_every_section_an_operation() -> None:
    described = {heading.strip("`") for heading in headings(PAGE) if heading.startswith("`")}
    assert described == OPERATIONS.keys() | {f"GET {path}" for path in STREAMS}


@pytest.mark.parametrize("route", OPERATIONS)
def test_a_section_names_the_gate_and_every_parameter_and_field(route: str) -> None:
    operation = OPERATIONS[route]
    text = section(PAGE, f"`{route}`")
    taken = {parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"}
    assert taken | body_fields(operation) <= named_in(text)
    assert re.search(r"^Gate [RW–]\.", text.strip()) or route == "POST /api/jobs"


@pytest.mark.parametrize("kind", [MINE, CHECKPOINT, AUDIT, REPAIR, DEMO], ids=lambda kind: kind.type)
def test_every_kind_of_job_is_described_with_its_fields(kind: Any) -> None:
    text = section(PAGE, "`POST /api/jobs`")
    assert f"| `{kind.type}` |" in text
    assert kind.request.model_fields.keys() <= words_in_code(text)


def test_the_options_of_every_source_are_described() -> None:
    options = {option.name for adapter in adapters() for option in adapter.options}
    assert options <= words_in_code(section(PAGE, "`POST /api/jobs`"))


def test_every_field_of_every_answer_is_described() -> None:
    answered = {field for schema in SCHEMA["components"]["schemas"].values() for field in schema.get("properties", {})}
    described = " ".join(spans(PAGE))
    assert {field for field in answered if not re.search(rf"\b{re.escape(field)}\b", described)} == set()


def test_the_result_of_a_mine_job_is_described_number_by_number() -> None:
    text = section(PAGE, "The result of a mine job")
    for name in (*MiningStats().counters, *SkipReason):
        assert f"| `{name}` |" in text


def test_no_page_names_a_route_that_does_not_exist() -> None:
    for name, text in pages().items():
        for mentioned in _MENTIONED.findall(text):
            path = mentioned.rstrip(".")
            assert path == "/api" or any(known.fullmatch(path) for known in TEMPLATES), f"{name}: {mentioned}"
        for method, path in _METHOD.findall(text):
            known = f"{method} {path}" in OPERATIONS or (method == "GET" and path in (*OWN_PAGES, *STREAMS))
            assert known or "{" not in path, f"{name}: {method} {path}"
            assert any(pattern.fullmatch(path) for pattern in TEMPLATES), f"{name}: {method} {path}"
