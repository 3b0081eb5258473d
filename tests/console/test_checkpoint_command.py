"""`checkpoint`: what it reads, what it refuses by itself, what it sends and shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.management.commands.checkpoint import Command as Checkpoint
from tests.console.support import JOB_ID, FakeDaemon, Shell, error_body, job

PAYLOAD = {"items": [{"destination": "general", "content": "a é 图", "tags": [], "source": {"kind": "note"}}]}
DONE = job("completed", kind={"type": "checkpoint", "payload": PAYLOAD}, result={"items": 3, "duplicates": 1})


@pytest.fixture(autouse=True)
def plain(shell: Shell) -> None:
    shell.environ["NO_COLOR"] = "1"


def test_the_payload_comes_from_a_file_or_from_stdin(shell: Shell, daemon: FakeDaemon, tmp_path: Path) -> None:
    daemon.on("POST /api/jobs", DONE)
    file = tmp_path / "payload.json"
    file.write_text(json.dumps(PAYLOAD, ensure_ascii=False), encoding="utf-8")
    for outcome in (
        shell.run(Checkpoint, "--payload", str(file)),
        shell.run(Checkpoint, stdin=json.dumps(PAYLOAD)),
        shell.run(Checkpoint, "--payload", "-", stdin=json.dumps(PAYLOAD)),
    ):
        assert outcome.code == 0
        assert outcome.json["result"] == {"items": 3, "duplicates": 1}
    sent = {"type": "checkpoint", "payload": PAYLOAD, "emergency": False, "requested_by": "cli"}
    assert [request.body for request in daemon.requests] == [sent] * 3


def test_an_emergency_says_so(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", DONE)
    assert shell.run(Checkpoint, "--emergency", stdin="{}").code == 0
    assert daemon.requests[0].body["emergency"] is True


@pytest.mark.parametrize(
    "text", ["", "{", "items", "[1,]", '{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '"\\ud800"', "[" * 100_000]
)
def test_what_is_no_json_is_refused_before_anything_is_sent(shell: Shell, daemon: FakeDaemon, text: str) -> None:
    outcome = shell.run(Checkpoint, stdin=text)
    assert (outcome.code, outcome.out) == (1, "")
    assert "error: payload: it is n" in outcome.err
    assert "memcastle::input::invalid" in outcome.err
    assert daemon.requests == []


def test_a_file_that_cannot_be_read_is_named(shell: Shell, daemon: FakeDaemon, tmp_path: Path) -> None:
    missing, binary = tmp_path / "missing.json", tmp_path / "binary.json"
    binary.write_bytes(b"\xff{}")
    for file, code in ((missing, "memcastle::io::failed"), (binary, "memcastle::input::invalid")):
        outcome = shell.run(Checkpoint, "--payload", str(file))
        assert outcome.code == 1
        assert str(file) in outcome.err
        assert code in outcome.err
    assert daemon.requests == []


def test_the_shape_is_the_daemons_to_judge(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", (400, error_body("memcastle::input::invalid", "payload: items is empty")))
    outcome = shell.run(Checkpoint, stdin='{"items": []}')
    assert outcome.code == 1
    assert "payload: items is empty" in outcome.err


def test_it_waits_and_tells_a_person_what_was_stored(shell: Shell, daemon: FakeDaemon, tmp_path: Path) -> None:
    file = tmp_path / "payload.json"
    file.write_text(json.dumps(PAYLOAD))
    daemon.on("POST /api/jobs", job())
    daemon.on(f"GET /api/jobs/{JOB_ID}", job("running"), DONE)
    text = shell.run(Checkpoint, "--payload", str(file), terminal=True).out
    assert "checkpoint of 3 items: 2 drawers stored" in text
    assert "1 item not stored again" in text


def test_detached_it_only_queues(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job())
    assert shell.run(Checkpoint, "--detach", stdin="{}").json["status"] == "queued"
    assert daemon.asked() == ["POST /api/jobs"]


def test_a_failed_checkpoint_is_a_failure(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job("failed", kind={"type": "checkpoint"}, error="the room holds other content"))
    outcome = shell.run(Checkpoint, stdin="{}")
    assert (outcome.code, outcome.json["status"]) == (1, "failed")
    assert "checkpoint job" in outcome.err
    assert "the room holds other content" in outcome.err
