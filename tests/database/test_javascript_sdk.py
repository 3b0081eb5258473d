"""SurrealDB's SDK for JavaScript as a client."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.database.support import TOKEN, Endpoint
from tests.support import PATIENCE_SECONDS

PROGRAM = Path(__file__).parent / "node" / "client.mjs"


@pytest.mark.parametrize(("fixture", "password"), [("endpoint", "memcastle"), ("guarded", TOKEN)])
def test_everything_a_program_does(request: pytest.FixtureRequest, node_packages: Path, fixture: str, password: str) -> None:
    served: Endpoint = request.getfixturevalue(fixture)
    # Imports are looked up from where the program lies.
    program = shutil.copy(PROGRAM, node_packages)
    run = subprocess.run(
        ["node", program, served.url, password],
        cwd=node_packages,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found.pop("version").startswith("surrealdb-")
    assert found == {
        "query": [[1, "two"], 2],
        "create": {"id": "js:one", "a": 1},
        "update": {"id": "js:one", "a": 1, "b": 2},
        "patch": {"id": "js:one", "a": 1, "b": 2, "c": 3},
        "upsert": {"id": "js:two", "b": 2},
        "insert": [{"id": "js:5"}],
        "relate": "js:two",
        "select": [{"id": "js:5"}, {"id": "js:one", "a": 1, "b": 2, "c": 3}, {"id": "js:two", "b": 2}],
        "delete": {"id": "js:one", "a": 1, "b": 2, "c": 3},
        "run": "A",
        "variable": [5],
        "session": [["other", None]],
        "errors": {
            "exists": "AlreadyExistsError",
            "thrown": "ThrownError",
            "parse": "ValidationError",
            "transaction": "NotAllowedError",
            "signin": "NotAllowedError",
        },
        "after": ["javascript"],
    }
