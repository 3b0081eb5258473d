"""`repair`: a dry run unless told otherwise, a question before anything is deleted, a report."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.management.commands.repair import Command as Repair
from tests.console.support import JOB_ID, FakeDaemon, Shell, error_body, job

AUDIT_ID = "4054924e-3f80-5054-b1cb-7335d5a9430e"


def report(orphans: int = 2, *, dry_run: bool = True) -> dict[str, Any]:
    actions = [{"action": "remove_orphan_drawer", "drawer_id": f"d{number}", "room": "gone"} for number in range(orphans)]
    generated = "2026-03-01T12:00:00.000000000Z"
    return {"dry_run": dry_run, "based_on_job": None, "actions": actions, "generated_at": generated}


@pytest.fixture(autouse=True)
def answers(shell: Shell, daemon: FakeDaemon) -> None:
    shell.environ["NO_COLOR"] = "1"
    daemon.on("POST /api/jobs", job("completed", kind={"type": "repair"}, result=report()))
    found = [{"drawer_id": "d", "room": "gone"}] * 7
    daemon.on(f"GET /api/jobs/{AUDIT_ID}", job("completed", kind={"type": "audit"}, result={"orphan_drawers": found}))


def asked_for(daemon: FakeDaemon) -> list[dict[str, Any]]:
    return [request.body for request in daemon.requests if request.method == "POST"]


def test_it_is_a_dry_run_and_asks_nothing(shell: Shell, daemon: FakeDaemon) -> None:
    text = shell.run(Repair, terminal=True).out
    assert "dry run of a repair, 2026-03-01 12:00:00 UTC: would delete 2 drawers whose room is gone" in text
    assert "drawer d0 room gone" in text
    assert "Nothing was changed" in text
    assert shell.run(Repair).json["result"] == report()
    assert asked_for(daemon) == [{"type": "repair", "dry_run": True, "based_on_job": None, "requested_by": "cli"}] * 2


@pytest.mark.parametrize("flag", ["--based-on-job", "--based-on"])
def test_an_audit_narrows_it(shell: Shell, daemon: FakeDaemon, flag: str) -> None:
    assert shell.run(Repair, flag, AUDIT_ID.upper()).code == 0
    assert asked_for(daemon)[0]["based_on_job"] == AUDIT_ID


def test_a_malformed_id_is_refused_before_any_question_or_request(shell: Shell, daemon: FakeDaemon) -> None:
    outcome = shell.run(Repair, "--apply", "--based-on-job", "7", terminal=True, stdin="y\n")
    assert outcome.code == 1
    assert "memcastle::jobs::id_invalid" in outcome.err
    assert "[y/N]" not in outcome.err
    assert daemon.requests == []


def test_applying_asks_first_and_no_is_the_default(shell: Shell, daemon: FakeDaemon) -> None:
    for words, question in (
        ([], "Delete every drawer whose room is gone?"),
        (["--based-on-job", AUDIT_ID], f"the 7 drawers without a room that the audit {AUDIT_ID} found?"),
    ):
        outcome = shell.run(Repair, "--apply", *words, terminal=True, stdin="\n")
        assert outcome.code == 1
        assert question in outcome.err
        assert "memcastle::cli::aborted" in outcome.err
    assert asked_for(daemon) == []


def test_yes_and_a_pipe_apply_without_a_question(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job("completed", kind={"type": "repair"}, result=report(25, dry_run=False)))
    answered = shell.run(Repair, "--apply", terminal=True, stdin="y\n")
    told = shell.run(Repair, "--apply", "--yes", terminal=True)
    piped = shell.run(Repair, "--apply")
    assert [outcome.code for outcome in (answered, told, piped)] == [0, 0, 0]
    assert ["[y/N]" in outcome.err for outcome in (answered, told, piped)] == [True, False, False]
    assert [body["dry_run"] for body in asked_for(daemon)] == [False] * 3
    assert "repair, 2026-03-01 12:00:00 UTC: deleted 25 drawers whose room is gone" in told.out
    assert "5 more" in told.out
    assert "Nothing was changed" not in told.out


def test_nothing_found_is_said(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job("completed", kind={"type": "repair"}, result=report(0)))
    assert "nothing to repair" in shell.run(Repair, terminal=True).out


def test_a_cancelled_repair_prints_its_partial_report_in_a_pipe(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job("cancelled", kind={"type": "repair"}, result=report(1, dry_run=False)))
    outcome = shell.run(Repair, "--apply")
    assert (outcome.code, len(outcome.json["result"]["actions"])) == (1, 1)
    assert "was cancelled" in outcome.err


def test_a_refusal_of_the_daemon_is_shown(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", (400, error_body("memcastle::repair::based_on_job_invalid", "it is a queued audit")))
    outcome = shell.run(Repair, "--based-on-job", AUDIT_ID)
    assert outcome.code == 1
    assert "memcastle::repair::based_on_job_invalid" in outcome.err


def test_detached_it_only_queues(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job())
    assert shell.run(Repair, "--detach").json["id"] == JOB_ID
