"""Listing, showing and controlling jobs."""

from __future__ import annotations

import pytest

from jobs.management.commands.audit import Command as Audit
from jobs.management.commands.job import Command as Job
from tests.console.support import JOB_ID, FakeDaemon, Shell, error_body, job

REPORT: dict[str, object] = {
    "wing": None,
    "orphan_drawers": [],
    "dangling_provenance_drawers": [],
    "stuck_failed_jobs": 0,
    "running_jobs": 1,
    "drawers_without_embedding": 12,
    "total_drawers_in_scope": 12,
    "generated_at": "2026-03-01T12:00:00.000000000Z",
}


@pytest.fixture(autouse=True)
def plain(shell: Shell) -> None:
    shell.environ["NO_COLOR"] = "1"


def test_list_passes_its_filters_on(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/jobs", [job("failed", error="disk \x1b full")])
    assert shell.run(Job, "list", "--status", "failed", "--limit", "3").json[0]["id"] == JOB_ID
    assert shell.run(Job, "list").code == 0
    assert [request.query for request in daemon.requests] == [{"status": ["failed"], "limit": ["3"]}, {}]


def test_list_on_a_terminal_shows_the_whole_id_and_what_went_wrong(shell: Shell, daemon: FakeDaemon) -> None:
    running = job("running", progress={"current": 3, "total": 10, "message": "3 of 10"})
    daemon.on("GET /api/jobs", [job("failed", error="disk \x1b full"), running])
    text = shell.run(Job, "list", terminal=True).out
    assert text.count(JOB_ID) == 2
    assert "disk \\x1b full" in text
    assert "3/10" in text


def test_an_unknown_status_is_a_usage_error(shell: Shell) -> None:
    assert shell.run(Job, "list", "--status", "done").code == 2


@pytest.mark.parametrize("identity", [JOB_ID, JOB_ID.upper(), JOB_ID.replace("-", ""), f"{{{JOB_ID}}}", f"urn:uuid:{JOB_ID}"])
def test_an_id_is_accepted_in_every_common_spelling(shell: Shell, daemon: FakeDaemon, identity: str) -> None:
    daemon.on(f"GET /api/jobs/{JOB_ID}", job("completed", result={"steps": 5}))
    assert shell.run(Job, "show", identity).json["result"] == {"steps": 5}


@pytest.mark.parametrize("action", ["show", "pause", "resume", "cancel", "retry"])
def test_a_malformed_id_is_refused_here(shell: Shell, daemon: FakeDaemon, action: str) -> None:
    outcome = shell.run(Job, action, "../wings")
    assert outcome.code == 1
    assert "memcastle::jobs::id_invalid" in outcome.err
    assert daemon.requests == []


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "retry"])
def test_control_posts_and_prints_the_answer(shell: Shell, daemon: FakeDaemon, action: str) -> None:
    daemon.on(f"POST /api/jobs/{JOB_ID}/{action}", {"status": f"{action}_done"})
    assert shell.run(Job, action, JOB_ID).json == {"status": f"{action}_done"}


def test_a_refused_transition_is_shown(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on(f"POST /api/jobs/{JOB_ID}/resume", (400, error_body("memcastle::jobs::transition_invalid", "it is running")))
    outcome = shell.run(Job, "resume", JOB_ID)
    assert outcome.code == 1
    assert "memcastle::jobs::transition_invalid" in outcome.err


def test_show_on_a_terminal_is_a_card(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on(f"GET /api/jobs/{JOB_ID}", job("completed", result={"name": "line\nbreak \x1b", "list": [1]}))
    text = shell.run(Job, "show", JOB_ID, terminal=True).out
    assert f"demo job {JOB_ID}" in text
    assert "completed" in text
    assert "\x1b" not in text


def test_demo_queues_a_job_and_does_not_wait(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job())
    assert shell.run(Job, "demo", "--steps", "7").json["id"] == JOB_ID
    assert daemon.requests[0].body == {"type": "demo", "steps": 7, "requested_by": "cli"}
    assert f"job show {JOB_ID}" in shell.run(Job, "demo", terminal=True).out


def test_audit_waits_and_prints_its_report(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job(kind={"type": "audit"}))
    daemon.on(f"GET /api/jobs/{JOB_ID}", job("running"), job("completed", result=REPORT))
    outcome = shell.run(Audit, "--wing", "w")
    assert outcome.json["result"] == REPORT
    assert daemon.requests[0].body == {"type": "audit", "wing": "w", "requested_by": "cli"}
    assert "no damage found" in shell.run(Audit, terminal=True).out


def test_audit_names_the_damage(shell: Shell, daemon: FakeDaemon) -> None:
    orphans = [{"drawer_id": f"d{number}", "room": "gone"} for number in range(25)]
    daemon.on("POST /api/jobs", job("completed", result=REPORT | {"orphan_drawers": orphans}))
    text = shell.run(Audit, terminal=True).out
    assert "25 drawers whose room is gone" in text
    assert "d0" in text
    assert "5 more" in text


def test_audit_detached_only_queues(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job())
    assert shell.run(Audit, "--detach").json["status"] == "queued"
    assert daemon.asked() == ["POST /api/jobs"]


def test_a_failed_audit_is_a_failure(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job("failed", error="the store went away"))
    outcome = shell.run(Audit)
    assert outcome.code == 1
    assert outcome.json["status"] == "failed"
    assert "the store went away" in outcome.err
    assert f"job retry {JOB_ID}" in outcome.err
