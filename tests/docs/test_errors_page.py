"""docs/errors.md tells of every error class, and no page of a code that does not exist."""

from __future__ import annotations

import ast
import re
from importlib import import_module

import pytest

from palace.errors import MemCastleError
from tests.docs.pages import ROOT, page, pages, rows, sources

_CODE = re.compile(r"\bmemcastle::[a-z_]+::[a-z_]+\b")


def error_classes() -> list[type[MemCastleError]]:
    """Every subclass of MemCastleError. Only modules that define one are imported."""
    known = {"MemCastleError"}
    places: dict[str, str] = {}
    while True:
        found = dict(places)
        for file, text in sources():
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef) and known & {ast.unparse(base) for base in node.bases}:
                    found[node.name] = file.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        if found == places:
            return [getattr(import_module(module), name) for name, module in sorted(places.items())]
        places = found
        known |= places.keys()


CLASSES = error_classes()
ROWS = {row[2].strip("`"): row for row in rows(page("errors.md")) if row[0].startswith("`memcastle::")}


def test_every_class_has_a_row_and_every_row_a_class() -> None:
    assert ROWS.keys() == {error.__name__ for error in CLASSES}


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_a_row_tells_code_status_meaning_and_advice(error: type[MemCastleError]) -> None:
    code, status, _, meaning, advice = ROWS[error.__name__]
    assert code == f"`{error.code}`"
    # What never reaches HTTP keeps the status of the base.
    assert status == str(error.status) or (status == "–" and error.status == MemCastleError.status)
    assert meaning
    assert advice


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_every_error_has_a_well_formed_code_and_a_help(error: type[MemCastleError]) -> None:
    assert _CODE.fullmatch(error.code)
    assert error.help
    assert 400 <= error.status < 600


def test_no_two_errors_declare_the_same_code() -> None:
    declared = [error.code for error in CLASSES if "code" in vars(error)]
    assert len(declared) == len(set(declared))


def test_no_page_names_a_code_that_does_not_exist() -> None:
    codes = {error.code for error in CLASSES}
    for name, text in pages().items():
        assert set(_CODE.findall(text)) <= codes, name
