"""Listing, showing and controlling jobs."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.management.commands.audit import Command as Audit
from jobs.management.commands.job import Command as Job
from tests.console.support import JOB_ID, FakeDaemon, Request, Shell, error_body, job

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

WORKER = "memcastle-1-a"
LOG = [
    {
        "at": f"2026-03-01T12:00:0{second}.000000000Z",
        "event": event,
        "from": before,
        "to": after,
        "worker": worker,
        "reason": why,
    }
    for second, (event, before, after, worker, why) in enumerate(
        [
            ("created", None, "queued", None, None),
            ("claimed", "queued", "running", WORKER, None),
            ("pause_requested", "running", "running", WORKER, None),
            ("failed", "running", "failed", WORKER, "disk \x1b full"),
        ]
    )
]


@pytest.fixture(autouse=True)
def plain(shell: Shell) -> None:
    shell.environ["NO_COLOR"] = "1"


def test_list_passes_its_filters_on(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/jobs", [job("failed", error="disk \x1b full")])
    assert shell.run(Job, "list", "--status", "failed", "--limit", "3").json[0]["id"] == JOB_ID
    assert shell.run(Job, "list").code == 0
    assert [request.query for request in daemon.requests] == [{"status": ["failed"], "limit": ["3"]}, {}]


def identities(count: int) -> list[str]:
    return [f"0b6f2c1e-4a5d-4c3b-8e7f-{number:012x}" for number in range(count)]


def test_a_full_page_on_a_terminal_says_how_to_get_the_next(shell: Shell, daemon: FakeDaemon) -> None:
    ids = identities(3)
    daemon.on("GET /api/jobs", [job(id=identity) for identity in ids])
    more = shell.run(Job, "list", "--status", "queued", "--kind", "demo", "--limit", "3", terminal=True).out
    assert more.endswith(f"manage.py job list --status queued --kind demo --limit 3 --before {ids[-1]}\n")
    assert "Next page" not in shell.run(Job, "list", "--limit", "4", terminal=True).out
    assert "Next page" not in shell.run(Job, "list", terminal=True).out


def test_before_asks_for_a_page_behind_a_job(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/jobs", [job()])
    assert shell.run(Job, "list", "--before", JOB_ID.upper()).code == 0
    assert daemon.requests[0].query == {"limit": ["50"], "before": [JOB_ID]}
    assert "memcastle::jobs::id_invalid" in shell.run(Job, "list", "--before", "7").err


def test_a_limit_beyond_the_daemons_is_met_by_several_pages(shell: Shell, daemon: FakeDaemon) -> None:
    ids = identities(230)

    def page(request: Request) -> tuple[int, Any]:
        start = ids.index(request.query["before"][0]) + 1 if "before" in request.query else 0
        return 200, [job(id=identity) for identity in ids[start : start + int(request.query["limit"][0])]]

    daemon.replies["GET /api/jobs"] = page
    assert [found["id"] for found in shell.run(Job, "list", "--limit", "220").json] == ids[:220]
    assert [found["id"] for found in shell.run(Job, "list", "--limit", "1000").json] == ids


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


@pytest.mark.parametrize("action", ["show", "log", "watch", "pause", "resume", "cancel", "force-cancel", "retry"])
def test_a_malformed_id_is_refused_here(shell: Shell, daemon: FakeDaemon, action: str) -> None:
    outcome = shell.run(Job, action, "../wings")
    assert outcome.code == 1
    assert "memcastle::jobs::id_invalid" in outcome.err
    assert daemon.requests == []


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "force-cancel", "retry"])
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
    daemon.on(f"GET /api/jobs/{JOB_ID}/log", LOG)
    text = shell.run(Job, "show", JOB_ID, terminal=True).out
    assert f"demo job {JOB_ID}" in text
    assert "completed" in text
    assert "\x1b" not in text
    assert "2026-03-01 12:00:01 UTC  claimed           queued → running     memcastle-1-a" in text


def test_show_in_a_pipe_is_the_job_and_with_log_both(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on(f"GET /api/jobs/{JOB_ID}", job("completed"))
    daemon.on(f"GET /api/jobs/{JOB_ID}/log", LOG)
    assert shell.run(Job, "show", JOB_ID).json == job("completed")
    assert daemon.asked() == [f"GET /api/jobs/{JOB_ID}"]
    assert shell.run(Job, "show", JOB_ID, "--log").json == {"job": job("completed"), "log": LOG}


def test_the_log_tells_who_did_what_and_why(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on(f"GET /api/jobs/{JOB_ID}/log", LOG)
    assert shell.run(Job, "log", JOB_ID).json == LOG
    text = shell.run(Job, "log", JOB_ID, terminal=True).out.splitlines()
    assert text == [
        "2026-03-01 12:00:00 UTC  created           queued",
        "2026-03-01 12:00:01 UTC  claimed           queued → running     memcastle-1-a",
        "2026-03-01 12:00:02 UTC  pause_requested   running              memcastle-1-a",
        "2026-03-01 12:00:03 UTC  failed            running → failed     memcastle-1-a",
        "    disk \\x1b full",
    ]


def test_demo_queues_a_job_and_does_not_wait(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", job())
    assert shell.run(Job, "demo", "--steps", "7").json["id"] == JOB_ID
    assert daemon.requests[0].body == {"type": "demo", "steps": 7, "requested_by": "cli"}
    assert f"job watch {JOB_ID}" in shell.run(Job, "demo", terminal=True).out


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
