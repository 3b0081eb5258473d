"""Jobs over REST: what a submission needs and gives, how they are listed, how they are controlled.

The daemon has one worker, so a job behind a long one stays queued until that one ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rest.support import JOB, UNKNOWN_ID, path, refused
from tests.support import Answer, Daemon, until

FOREVER = 1_000_000
PROGRESS = {"current", "total", "message"}
MINED = {
    *("documents", "filed", "created", "superseded", "retired", "unchanged", "unchanged_elsewhere", "skipped"),
    *("skipped_by_reason", "skipped_examples", "missing", "missing_examples", "limit", "truncated"),
    *("wing", "locator", "source", "source_id"),
}
AUDITED = {
    *("wing", "orphan_drawers", "dangling_provenance_drawers", "stuck_failed_jobs", "running_jobs"),
    *("drawers_without_embedding", "total_drawers_in_scope", "generated_at"),
}


def submit(rest: Daemon, **fields: Any) -> dict[str, Any]:
    answer = rest.request("POST", "/api/jobs", fields)
    assert answer.status == 200, answer.text
    job: dict[str, Any] = answer.json
    assert set(job) == JOB
    assert set(job["progress"]) == PROGRESS
    return job


def control(rest: Daemon, job: dict[str, Any], what: str) -> Answer:
    return rest.request("POST", f"/api/jobs/{job['id']}/{what}")


def now(rest: Daemon, job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = rest.get(f"/api/jobs/{job['id']}")
    assert set(found) == JOB
    return found


def reached(rest: Daemon, job: dict[str, Any], status: str) -> dict[str, Any]:
    until(lambda: now(rest, job)["status"] == status, f"{job['id']} to be {status}")
    return now(rest, job)


@pytest.fixture
def running(rest: Daemon) -> Iterator[dict[str, Any]]:
    """A job that holds the only worker until the test is over."""
    job = submit(rest, type="demo", steps=FOREVER)
    yield reached(rest, job, "running")
    control(rest, job, "cancel")
    rest.ended(job["id"])


def test_a_new_job_is_queued_with_nothing_done(rest: Daemon, running: dict[str, Any]) -> None:
    job = submit(rest, type="demo", steps=3)
    assert job == now(rest, job)
    assert (job["kind"], job["priority"], job["requested_by"]) == ({"type": "demo", "steps": 3}, 50, "http")
    assert job["progress"] == {"current": 0, "total": None, "message": None}
    assert (job["attempt"], job["recovery_attempts"], job["max_attempts"], job["checkpoint"]) == (0, 0, 3, {})
    assert job["status"] == "queued"
    for empty in ("started_at", "completed_at", "result", "error", "lease_owner", "lease_expires_at"):
        assert job[empty] is None
    assert (job["pause_requested"], job["cancel_requested"]) == (False, False)
    control(rest, job, "cancel")


def test_a_running_job_has_a_lease_and_a_finished_one_has_not(rest: Daemon, running: dict[str, Any]) -> None:
    assert (running["attempt"], running["completed_at"]) == (1, None)
    assert running["started_at"] >= running["created_at"]
    assert running["lease_owner"].startswith("memcastle-")
    assert running["lease_expires_at"] > running["started_at"]
    until(lambda: now(rest, running)["progress"]["current"] > 0, "a step")
    progress = now(rest, running)["progress"]
    assert (progress["total"], progress["message"] is None) == (FOREVER, False)
    control(rest, running, "cancel")
    ended = rest.ended(running["id"])
    assert (ended["status"], ended["lease_owner"], ended["lease_expires_at"]) == ("cancelled", None, None)
    assert ended["completed_at"] >= ended["started_at"]


def test_a_demo_completes(rest: Daemon) -> None:
    ended = rest.ended(submit(rest, type="demo", steps=2, requested_by="a script")["id"])
    assert (ended["status"], ended["requested_by"], ended["error"]) == ("completed", "a script", None)
    assert (ended["progress"]["current"], ended["progress"]["total"]) == (2, 2)
    assert rest.ended(submit(rest, type="demo", steps=0)["id"])["status"] == "completed"


def test_an_audit_reports(rest: Daemon) -> None:
    rest.post(path("wings", "audited", "rooms", "r", "drawers"), {"content": "one"})
    job = submit(rest, type="audit", wing="audited")
    assert (job["kind"], job["priority"]) == ({"type": "audit", "wing": "audited"}, 50)
    report = rest.ended(job["id"])["result"]
    assert set(report) == AUDITED
    assert (report["wing"], report["total_drawers_in_scope"], report["running_jobs"]) == ("audited", 1, 0)
    assert (report["orphan_drawers"], report["dangling_provenance_drawers"]) == ([], [])
    nowhere = rest.ended(submit(rest, type="audit", wing="no such wing")["id"])
    assert (nowhere["status"], nowhere["result"]["total_drawers_in_scope"]) == ("completed", 0)
    whole = submit(rest, type="audit")
    assert whole["kind"] == {"type": "audit", "wing": None}
    assert rest.ended(whole["id"])["result"]["total_drawers_in_scope"] == rest.get("/api/status")["drawer_count"]


def test_a_mine_job_says_what_it_was_asked_and_what_it_did(rest: Daemon, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text of a\n")
    (tmp_path / "b.bin").write_bytes(b"\0\1\2")
    job = submit(rest, type="mine", path=str(tmp_path), wing="mined here", options={"ignore": "off"}, requested_by="cli")
    assert job["kind"] == {
        "type": "mine",
        "path": str(tmp_path),
        "wing": "mined here",
        "full": False,
        "options": {"ignore": "off"},
    }
    assert (job["priority"], job["requested_by"]) == (0, "cli")
    ended = rest.ended(job["id"])
    assert (ended["status"], ended["error"]) == ("completed", None)
    report = ended["result"]
    assert set(report) == MINED
    assert (report["documents"], report["filed"], report["skipped"]) == (2, 1, 1)
    assert report["skipped_by_reason"] == {"binary": 1}
    (hit,) = rest.get("/api/search?q=text&wing=mined%20here")
    assert hit["provenance"] == {"requested_by": "cli", "job_id": job["id"]}
    again = rest.ended(submit(rest, type="mine", source="directory", locator=str(tmp_path), wing="mined here", full=True)["id"])
    assert (again["kind"]["path"], again["kind"]["full"], again["kind"]["options"]) == (str(tmp_path), True, {})
    assert (again["result"]["unchanged"], again["result"]["created"]) == (1, 0)


def test_a_directory_that_is_not_there_is_the_job_s_to_find_out(rest: Daemon) -> None:
    job = submit(rest, type="mine", path="/no/such/directory")
    assert job["kind"]["wing"] is None
    ended = rest.ended(job["id"])
    assert ended["status"] == "failed"
    assert "/no/such/directory" in ended["error"]
    assert (ended["result"], ended["completed_at"] is None) == (None, False)


REFUSED_MINES: tuple[tuple[dict[str, Any], str, str | None, str], ...] = (
    ({"path": "relative/path"}, "input::invalid", "path", "absolute"),
    ({"path": "."}, "input::invalid", "path", "absolute"),
    ({"path": "~/notes"}, "input::invalid", "path", "absolute"),
    ({"path": ""}, "input::invalid", "path", ""),
    ({"path": "/a\0b"}, "input::invalid", "path", "NUL"),
    ({}, "input::invalid", "path", ""),
    ({"path": "/a", "source": "directory"}, "input::invalid", "path", "both"),
    ({"source": "directory"}, "input::invalid", "path", ""),
    ({"source": "directory", "locator": "relative"}, "input::invalid", "path", "absolute"),
    ({"source": "no-such-source", "locator": "x"}, "input::invalid", "source", "directory"),
    ({"path": "/a", "options": {"nonsense": "1"}}, "input::invalid", "options", "ignore"),
    ({"path": "/a", "options": {"ignore": 1}}, "input::invalid", "body", "options"),
    ({"path": "/a", "options": ["ignore"]}, "input::invalid", "body", "options"),
    ({"path": "/a", "options": None}, "input::invalid", "body", "options"),
    ({"path": "/a", "wing": "new/wing"}, "palace::path_invalid", None, "new/wing"),
    ({"path": "/a", "wing": ""}, "palace::path_invalid", None, "empty"),
    ({"path": "/a", "wing": UNKNOWN_ID}, "palace::path_invalid", None, "UUID"),
    ({"path": 1}, "input::invalid", "body", "path"),
    ({"path": ["/a"]}, "input::invalid", "body", "path"),
    ({"path": "/a", "full": "true"}, "input::invalid", "body", "full"),
    ({"path": "/a", "full": None}, "input::invalid", "body", "full"),
    ({"path": "/a", "wing": 1}, "input::invalid", "body", "wing"),
)


@pytest.mark.parametrize(("fields", "code", "blamed", "word"), REFUSED_MINES, ids=lambda value: repr(value)[:50])
def test_a_mine_that_no_run_could_fulfil_is_refused_when_it_is_submitted(
    rest: Daemon, fields: dict[str, Any], code: str, blamed: str | None, word: str
) -> None:
    before = len(rest.get("/api/jobs"))
    answer = rest.request("POST", "/api/jobs", {"type": "mine", **fields})
    refused(answer, 400, code, blamed)
    assert word in answer.json["error"]
    assert len(rest.get("/api/jobs")) == before


@pytest.mark.parametrize(
    "body",
    [
        *({}, {"type": None}, {"type": "minez"}, {"type": ""}, {"type": "DEMO", "steps": 1}, {"type": ["demo"]}),
        *({"type": "demo"}, {"type": "demo", "steps": -1}, {"type": "demo", "steps": 2**32}, {"type": "demo", "steps": "1"}),
        *({"type": "demo", "steps": 1.5}, {"type": "demo", "steps": 1, "requested_by": 1}, {"type": "audit", "wing": 1}),
    ],
    ids=repr,
)
def test_a_submission_of_the_wrong_shape_is_blamed_on_the_body(rest: Daemon, body: dict[str, Any]) -> None:
    refused(rest.request("POST", "/api/jobs", body), 400, "input::invalid", "body")


def test_listings_are_whole_unless_a_page_is_asked_for(rest: Daemon) -> None:
    for _ in range(60 - len(rest.get("/api/jobs?kind=demo&limit=200"))):
        submit(rest, type="demo", steps=0)
    everything = [job["id"] for job in rest.get("/api/jobs")]
    assert len(everything) >= 60
    assert [job["id"] for job in rest.get("/api/jobs?limit=100000")] == everything[:200]
    assert [job["id"] for job in rest.get("/api/jobs?limit=0")] == everything[:50]
    assert [job["id"] for job in rest.get("/api/jobs?kind=%20")] == everything[:50]
    assert [job["id"] for job in rest.get("/api/jobs?limit=3")] == everything[:3]
    assert len(rest.get("/api/jobs?kind=demo")) == 50
    moments = [job["created_at"] for job in rest.get("/api/jobs")]
    assert moments == sorted(moments, reverse=True)
    until(lambda: rest.get("/api/status")["jobs_queued"] == 0, "the jobs to end")


def test_filters(rest: Daemon, running: dict[str, Any]) -> None:
    queued = submit(rest, type="audit", wing="filtered")
    assert [job["id"] for job in rest.get("/api/jobs?status=running")] == [running["id"]]
    assert [job["id"] for job in rest.get("/api/jobs?status=queued&kind=audit")] == [queued["id"]]
    assert rest.get("/api/jobs?status=queued&kind=mine") == []
    assert rest.get("/api/jobs?kind=minez") == []
    assert {job["kind"]["type"] for job in rest.get("/api/jobs?kind=audit")} == {"audit"}
    assert {job["status"] for job in rest.get("/api/jobs?status=completed")} <= {"completed"}
    for wrong in ("done", "Queued", "", "queued,running", "%20queued"):
        answer = rest.request("GET", f"/api/jobs?status={wrong}")
        refused(answer, 400, "input::invalid", "status")
        assert "queued, running, paused, completed, failed, cancelled" in answer.json["error"]
    control(rest, queued, "cancel")


def test_counts_in_status_are_those_of_the_listing(rest: Daemon, running: dict[str, Any]) -> None:
    queued = [submit(rest, type="demo", steps=1) for _ in range(3)]
    status = rest.get("/api/status")
    assert (status["jobs_queued"], status["jobs_running"], status["jobs_paused"]) == (3, 1, 0)
    for job in queued:
        control(rest, job, "cancel")
    assert rest.get("/api/status")["jobs_queued"] == 0


def test_a_job_answers_to_its_id_in_any_spelling_and_to_nothing_else(rest: Daemon) -> None:
    job = submit(rest, type="demo", steps=0)
    assert rest.get(f"/api/jobs/{job['id'].upper()}")["id"] == job["id"]
    refused(rest.request("GET", f"/api/jobs/{UNKNOWN_ID}"), 404, "jobs::not_found")
    refused(rest.request("GET", f"/api/jobs/{job['id']}x"), 400, "jobs::id_invalid")
    for what in ("pause", "resume", "cancel", "retry"):
        refused(rest.request("POST", f"/api/jobs/{UNKNOWN_ID}/{what}"), 404, "jobs::not_found")
        refused(rest.request("POST", f"/api/jobs/nonsense/{what}"), 400, "jobs::id_invalid")
    refused(rest.request("POST", f"/api/jobs/{job['id']}/restart"), 404, "server::route_not_found")


def answered(rest: Daemon, job: dict[str, Any]) -> dict[str, tuple[int, str]]:
    """What each control but cancel is answered now."""
    answers = {what: control(rest, job, what) for what in ("pause", "resume", "retry")}
    return {what: (answer.status, answer.json.get("status") or answer.json["code"]) for what, answer in answers.items()}


def test_controls_allow_what_the_status_allows(rest: Daemon) -> None:
    no = (400, "memcastle::jobs::transition_invalid")
    running = reached(rest, submit(rest, type="demo", steps=FOREVER), "running")
    queued = submit(rest, type="demo", steps=FOREVER)
    assert answered(rest, queued) == {"pause": no, "resume": no, "retry": no}
    assert control(rest, running, "resume").json["code"] == control(rest, running, "retry").json["code"] == no[1]

    answer = control(rest, running, "pause")
    assert (answer.status, answer.json) == (200, {"status": "pause_requested"})
    paused = reached(rest, running, "paused")
    assert (paused["lease_owner"], paused["pause_requested"], paused["completed_at"]) == (None, False, None)
    assert paused["checkpoint"]["step"] == paused["progress"]["current"]
    assert control(rest, paused, "pause").json["code"] == control(rest, paused, "retry").json["code"] == no[1]

    reached(rest, queued, "running")
    assert control(rest, paused, "resume").json == {"status": "resumed"}
    assert now(rest, paused)["status"] == "queued"
    for job in (paused, queued):
        answer = control(rest, job, "cancel")
        assert (answer.status, answer.json) == (200, {"status": "cancel_requested"})
        assert rest.ended(job["id"])["status"] == "cancelled"
        assert answered(rest, job) == {"pause": no, "resume": no, "retry": no}
        assert control(rest, job, "cancel").json["code"] == no[1]


def test_a_paused_job_is_cancelled_at_once(rest: Daemon) -> None:
    job = reached(rest, submit(rest, type="demo", steps=FOREVER), "running")
    control(rest, job, "pause")
    reached(rest, job, "paused")
    assert control(rest, job, "cancel").json == {"status": "cancel_requested"}
    assert now(rest, job)["status"] == "cancelled"


def test_a_resumed_job_goes_on_where_it_stopped(rest: Daemon) -> None:
    job = submit(rest, type="demo", steps=4)
    until(lambda: now(rest, job)["progress"]["current"] >= 1, "a first step")
    control(rest, job, "pause")
    steps = reached(rest, job, "paused")["progress"]["current"]
    assert 1 <= steps < 4
    control(rest, job, "resume")
    ended = rest.ended(job["id"])
    assert (ended["status"], ended["progress"]["current"], ended["attempt"]) == ("completed", 4, 2)
    assert ended["started_at"] < ended["completed_at"]


def test_a_failed_job_is_retried(rest: Daemon, tmp_path: Path) -> None:
    missing = tmp_path / "late"
    job = submit(rest, type="mine", path=str(missing), wing="late")
    failed = rest.ended(job["id"])
    assert (failed["status"], failed["error"] is None) == ("failed", False)
    for what in ("pause", "resume", "cancel"):
        refused(control(rest, job, what), 400, "jobs::transition_invalid")
    missing.mkdir()
    (missing / "a.txt").write_text("arrived late\n")
    answer = control(rest, job, "retry")
    assert (answer.status, answer.json) == (200, {"status": "retried"})
    ended = rest.ended(job["id"])
    assert (ended["status"], ended["error"], ended["attempt"]) == ("completed", None, 2)
    assert ended["result"]["filed"] == 1


def test_the_urgent_go_before_the_patient(rest: Daemon, tmp_path: Path) -> None:
    holder = reached(rest, submit(rest, type="demo", steps=FOREVER), "running")
    patient = submit(rest, type="mine", path=str(tmp_path), wing="patient")
    urgent = submit(rest, type="demo", steps=0)
    assert patient["created_at"] < urgent["created_at"]
    control(rest, holder, "cancel")
    assert rest.ended(urgent["id"])["started_at"] < rest.ended(patient["id"])["started_at"]


def test_sources_list_what_was_mined(rest: Daemon, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text\n")
    job = rest.mine(tmp_path, wing="sources")
    report = rest.get("/api/sources")
    assert set(report) == {"adapters", "sources"}
    (adapter,) = [adapter for adapter in report["adapters"] if adapter["name"] == "directory"]
    assert (adapter["origin"], adapter["state"]) == ("builtin", "enabled")
    assert set(adapter["capabilities"]) == {"incremental", "retains_raw", "needs_credentials"}
    assert all({"name", "description", "type"} <= set(option) for option in adapter["options"])
    (source,) = [source for source in report["sources"] if source["id"] == job["result"]["source_id"]]
    assert set(source) == {"id", "source", "account", "locator", "cursor", "last_job", "last_run_at", "documents"}
    assert (source["source"], source["last_job"], source["documents"]) == ("directory", job["id"], 1)
