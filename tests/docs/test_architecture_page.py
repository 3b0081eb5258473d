"""docs/architecture.md agrees with the code where that can be checked."""

from __future__ import annotations

import ast
import re
import tomllib

from jobs.domain.job import ENDS, TRANSITIONS
from memcastle_site.schema_files import definitions
from tests.docs.pages import APPS, ROOT, blocks, page, pages, rows, section, spans

PAGE = page("architecture.md")


def test_the_diagram_of_jobs_shows_exactly_the_transitions_that_are_allowed() -> None:
    (diagram,) = blocks(PAGE, "mermaid")
    drawn = set(re.findall(r"(\w+) --> (\w+): (\w+)", diagram))
    allowed = {(before.value, after.value, event.__name__.lower()) for (before, event), after in TRANSITIONS.items()}
    assert drawn == allowed
    assert set(re.findall(r"(\w+) --> \[\*\]", diagram)) == {status.value for status in ENDS} - {"failed"}


def test_the_table_of_apps_keeps_the_order_that_is_enforced() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    table = [row[0].strip("`/") for row in rows(section(PAGE, "Apps and rooms")) if row[0].endswith("/`") and len(row) == 3]
    assert [app for app in table if app in APPS] == layers


def test_every_table_of_the_database_is_listed() -> None:
    stored = {definition.name for definition in definitions() if definition.kind == "TABLE"} | {"schema_definition"}
    listed = {name for row in rows(section(PAGE, "Tables")) for name in re.findall(r"`(\w+)`", row[0])}
    assert listed == stored


def test_every_file_that_a_page_names_exists() -> None:
    roots = (*APPS, "docs", "tests", "templates", "static")
    for name, text in pages().items():
        for span in spans(text):
            if re.fullmatch(rf"(?:{'|'.join(roots)})/[\w./-]*", span):
                assert (ROOT / span).exists(), f"{name}: {span}"


def test_every_function_that_a_page_names_is_in_the_file_beside_it() -> None:
    for name, text in pages().items():
        for file, function in re.findall(r"`([\w/]+\.py)`,\s+`(\w+)`", text):
            tree = ast.parse((ROOT / file).read_text())
            defined = {
                node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            }
            assert function in defined, f"{name}: {function} in {file}"
