"""docs/dependencies.md gives a reason for every package, and for no other."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT, page, rows, section


@pytest.mark.parametrize(
    ("file", "heading"),
    [("requirements.txt", "To run"), ("requirements-dev.txt", "To test and check")],
)
def test_every_requirement_has_a_reason(file: str, heading: str) -> None:
    lines = (ROOT / file).read_text().splitlines()
    required = [line for line in lines if line and not line.startswith(("#", "-r ", "-c "))]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in required), "every package is pinned to one version"
    reasons = {row[0].strip("`"): row[1] for row in rows(section(page("dependencies.md"), heading)) if row[0].startswith("`")}
    assert list(reasons) == [line.partition("==")[0] for line in required]
    assert all(reasons.values())
