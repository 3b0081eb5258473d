"""Repairs over REST: what a submission needs, what its report holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rest.support import JSON, UNKNOWN_ID, Wire, refused
from tests.support import Answer, Daemon


def submitted(rest: Daemon, **fields: Any) -> Answer:
    return rest.request("POST", "/api/jobs", {"type": "repair", **fields})


def repairs(rest: Daemon) -> int:
    return len(rest.get("/api/jobs?kind=repair&limit=200"))


def test_a_repair_is_a_dry_run_unless_told_otherwise(rest: Daemon) -> None:
    job = submitted(rest).json
    assert job["kind"] == {"type": "repair", "dry_run": True, "based_on_job": None}
    assert job["priority"] == 50
    report = rest.ended(job["id"])["result"]
    assert report.pop("generated_at") > job["created_at"]
    assert report == {"dry_run": True, "based_on_job": None, "actions": []}


def test_it_is_based_on_a_completed_audit(rest: Daemon) -> None:
    audit = rest.ended(rest.post("/api/jobs", {"type": "audit"})["id"])["id"]
    applied = submitted(rest, dry_run=False, based_on_job=f"{{{audit.upper()}}}").json
    assert applied["kind"] == {"type": "repair", "dry_run": False, "based_on_job": audit}
    assert rest.ended(applied["id"])["result"]["based_on_job"] == audit


@pytest.mark.parametrize("dry_run", [True, False])
def test_what_is_no_completed_audit_is_refused_without_a_job(rest: Daemon, dry_run: bool) -> None:
    demo = rest.ended(rest.post("/api/jobs", {"type": "demo", "steps": 0})["id"])["id"]
    before = repairs(rest)
    for based_on, code in (
        (demo, "repair::based_on_job_invalid"),
        (UNKNOWN_ID, "repair::based_on_job_invalid"),
        ("", "jobs::id_invalid"),
        ("7", "jobs::id_invalid"),
    ):
        refused(submitted(rest, dry_run=dry_run, based_on_job=based_on), 400, code)
    assert repairs(rest) == before


@pytest.mark.parametrize(
    "fields", [{"dry_run": None}, {"dry_run": 0}, {"dry_run": "false"}, {"based_on_job": 1}, {"based_on_job": []}], ids=repr
)
def test_another_shape_is_blamed_on_the_body(rest: Daemon, fields: dict[str, Any]) -> None:
    before = repairs(rest)
    refused(submitted(rest, **fields), 400, "input::invalid", "body")
    assert repairs(rest) == before


@pytest.mark.parametrize("mode", ["read_only", "disabled"])
def test_only_an_applied_repair_needs_a_mode(rest: Daemon, wire: Wire, mode: str) -> None:
    def asked(**fields: Any) -> Answer:
        body = json.dumps({"type": "repair", **fields}).encode()
        return wire.ask("POST", "/api/jobs", body, {**JSON, "X-MemCastle-Mode": mode})

    assert asked().status == 200
    refused(asked(dry_run=False, based_on_job="7"), 400, "jobs::id_invalid")
    before = repairs(rest)
    for fields in ({}, {"based_on_job": UNKNOWN_ID}):
        answer = asked(dry_run=False, **fields)
        refused(answer, 403, "mode::forbidden")
        assert answer.json["error"].startswith("repair ")
    assert repairs(rest) == before
