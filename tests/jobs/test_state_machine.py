from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.job import (
    ENDS,
    Cancel,
    Claim,
    Complete,
    Event,
    Fail,
    Job,
    Pause,
    Priority,
    Progress,
    Requeue,
    Resume,
    Retry,
    Status,
    apply,
    job_json,
    recovered,
    stopped,
)
from jobs.errors import TransitionInvalid

NOW = "2026-03-01T12:00:00.000000000Z"
LATER = "2026-03-01T13:00:00.000000000Z"
ALLOWED = {
    ("queued", Claim): "running",
    ("queued", Cancel): "cancelled",
    ("running", Pause): "paused",
    ("running", Complete): "completed",
    ("running", Fail): "failed",
    ("running", Cancel): "cancelled",
    ("running", Requeue): "queued",
    ("paused", Resume): "queued",
    ("paused", Cancel): "cancelled",
    ("failed", Retry): "queued",
}
EVENTS: list[Event] = [
    Claim("worker", LATER),
    Pause(),
    Resume(),
    Complete({"found": 1}),
    Fail("broken"),
    Cancel(),
    Requeue(),
    Retry(),
]


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    status = draw(st.sampled_from(Status))
    running = status is Status.RUNNING
    return Job(
        id="8d8ac610-566d-4ef0-9c22-186b2a5ed793",
        kind="demo",
        params={"steps": 3},
        priority=draw(st.sampled_from(Priority)),
        created_at=NOW,
        requested_by="test",
        status=status,
        started_at=draw(st.none() | st.just(NOW)),
        completed_at=NOW if status in ENDS else None,
        progress=Progress(draw(st.integers(0, 9)), 9),
        attempt=draw(st.integers(0, 9)),
        recovery_attempts=draw(st.integers(0, 4)),
        checkpoint={"step": draw(st.integers(0, 9))},
        error="broken" if status is Status.FAILED else None,
        lease_owner="worker" if running else None,
        lease_expires_at=LATER if running else None,
        pause_requested=running and draw(st.booleans()),
        cancel_requested=running and draw(st.booleans()),
    )


def test_the_events_of_this_test_are_all_there_are() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@given(jobs(), st.sampled_from(EVENTS))
def test_only_listed_transitions_happen(job: Job, event: Event) -> None:
    expected = ALLOWED.get((job.status.value, type(event)))
    if expected is None:
        with pytest.raises(TransitionInvalid):
            apply(job, event, LATER)
    else:
        assert apply(job, event, LATER).status == expected


@given(jobs(), st.sampled_from(EVENTS))
def test_what_holds_after_every_transition(job: Job, event: Event) -> None:
    if (job.status.value, type(event)) not in ALLOWED:
        return
    after = apply(job, event, LATER)
    assert (after.completed_at is not None) == (after.status in ENDS)
    assert (after.lease_owner is not None) == (after.status is Status.RUNNING)
    assert (after.lease_expires_at is not None) == (after.status is Status.RUNNING)
    assert not after.pause_requested
    assert not after.cancel_requested
    assert (after.error is not None) == (after.status is Status.FAILED)
    assert after.attempt == job.attempt + isinstance(event, Claim)
    assert (after.checkpoint, after.progress, after.recovery_attempts) == (
        job.checkpoint,
        job.progress,
        job.recovery_attempts,
    )
    if isinstance(event, Claim):
        assert after.started_at == (job.started_at or LATER)


@given(jobs().filter(lambda job: job.status is Status.RUNNING))
def test_a_stop_request_decides_what_a_stopped_run_becomes_and_cancel_beats_pause(job: Job) -> None:
    expected = "cancelled" if job.cancel_requested else "paused" if job.pause_requested else "queued"
    assert stopped(job, LATER).status == expected
    assert stopped(job, LATER).recovery_attempts == job.recovery_attempts


@given(jobs().filter(lambda job: job.status is Status.RUNNING))
def test_recovery_honours_requests_for_free_and_charges_crashes(job: Job) -> None:
    after = recovered(job, LATER)
    if job.cancel_requested or job.pause_requested:
        assert after == stopped(job, LATER)
        return
    assert after.recovery_attempts == job.recovery_attempts + 1
    if after.recovery_attempts < job.max_attempts:
        assert (after.status, after.error) == (Status.QUEUED, None)
    else:
        assert after.status is Status.FAILED
        assert f"died {after.recovery_attempts} times" in str(after.error)


@given(jobs().filter(lambda job: job.status is not Status.RUNNING))
def test_a_job_that_does_not_run_is_never_recovered(job: Job) -> None:
    with pytest.raises(TransitionInvalid):
        recovered(job, LATER)


@given(jobs())
def test_the_json_of_a_job_has_every_field_and_a_flat_tagged_kind(job: Job) -> None:
    shown = job_json(job)
    assert list(shown) == [
        "id", "kind", "status", "priority", "created_at", "started_at", "completed_at", "requested_by", "progress",
        "attempt", "recovery_attempts", "max_attempts", "checkpoint", "result", "error", "lease_owner",
        "lease_expires_at", "pause_requested", "cancel_requested",
    ]  # fmt: skip
    assert shown["kind"] == {"type": "demo", "steps": 3}
    assert shown["progress"] == {"current": job.progress.current, "total": 9, "message": None}
    assert shown["priority"] in (100, 75, 50, 25, 0)


def test_a_retry_keeps_the_budget_spent() -> None:
    failed = Job("id", "demo", {}, Priority.NORMAL, NOW, "test", status=Status.FAILED, recovery_attempts=3, error="x")
    again = apply(failed, Retry(), LATER)
    assert again == replace(failed, status=Status.QUEUED, error=None)
