"""Texts made to keep an extractor busy: reading them takes time in proportion to their length and nothing more.

Each is a megabyte long. An extractor that looks at what it has seen again would take hours, so the patience of the
tests is no measure of its speed.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PATIENCE_SECONDS = 120
SCRIPT = """
import sys
from mining.domain.extraction.heuristic import extract
from mining.domain.extraction.results import Bounds, normalized

piece, last = sys.argv[1].encode().decode("unicode_escape"), sys.argv[2]
found = normalized(extract(piece * (1_000_000 // len(piece)) + last), Bounds())
print(len(found.entities), len(found.relations))
"""


@pytest.mark.parametrize(
    ("piece", "last", "found"),
    [
        pytest.param("Alpha ", "", "0 0", id="capitalised words, one name of a megabyte"),
        pytest.param("A", "", "0 0", id="capitals, one word"),
        pytest.param("`", "x", "0 0", id="backticks, one word"),
        pytest.param("` ", "", "0 0", id="backticks, many words"),
        pytest.param("`a` ", "", "1 0", id="code, many words"),
        pytest.param("@", "ab", "1 0", id="at signs, one word"),
        pytest.param(".", "x", "0 0", id="full stops that end nothing"),
        pytest.param(". ", "Ada", "1 0", id="full stops that end sentences"),
        pytest.param("!", " Ada", "1 0", id="exclamation marks"),
        pytest.param("#", " Ada", "1 0", id="marks of headings"),
        pytest.param("-", "x", "0 0", id="dashes"),
        pytest.param(" ", "x", "0 0", id="spaces"),
        pytest.param("\\n", "Ada", "1 0", id="line ends"),
        pytest.param("\\u0301", "x", "0 0", id="accents without letters"),
        pytest.param("\\u0301\\u0316", "x", "0 0", id="accents that have to be sorted"),
        pytest.param("'s", "", "0 0", id="possessives"),
        pytest.param("Ada uses Bob uses ", "", "2 2", id="relations in one sentence"),
        pytest.param("Ada, ", "", "1 0", id="names in one sentence"),
    ],
)
def test_a_megabyte_is_read(piece: str, last: str, found: str) -> None:
    command = [sys.executable, "-c", SCRIPT, piece, last]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    assert done.stdout.strip() == found
