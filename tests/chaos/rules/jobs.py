"""Rules of jobs: rows, logs, and what clients were told of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests.chaos.look import Row, Rows, Told
from tests.chaos.model import Model, Submission

ENDS = ("completed", "failed", "cancelled")
BUDGET = "the crash budget is used up"
TAKEN_OVER = "gave no sign of life"
CHARGES = (BUDGET, "ended without it", TAKEN_OVER)
"""What the reason of an entry says when a crash was charged."""
STEPS = {
    "claimed": {("queued", "running")},
    "pause_requested": {("running", "running")},
    "cancel_requested": {("running", "running")},
    "paused": {("running", "paused")},
    "resumed": {("paused", "queued")},
    "completed": {("running", "completed")},
    "failed": {("running", "failed")},
    "cancelled": {("queued", "cancelled"), ("running", "cancelled"), ("paused", "cancelled")},
    "requeued": {("running", "queued")},
    "retried": {("failed", "queued")},
}
"""Every entry that a log may hold behind its first one, with the statuses before and after."""


def wrong_row(job: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a job at any moment, seen alone."""
    name = f"job {job['id']} ({job['kind']['type']}, {job['status']})"
    running = job["status"] == "running"
    if (job.get("lease_owner") is not None) is not running or (job.get("lease_expires_at") is not None) is not running:
        yield f"{name} has the lease {job.get('lease_owner')} until {job.get('lease_expires_at')}"
    if (job["pause_requested"] or job["cancel_requested"]) and not running:
        yield f"{name} is asked to stop while it does not run"
    if (job.get("completed_at") is not None) is not (job["status"] in ENDS):
        yield f"{name} has ended at {job.get('completed_at')}"
    if (job.get("started_at") is not None) is not (job["attempt"] > 0):
        yield f"{name} was claimed {job['attempt']} times and started at {job.get('started_at')}"
    if (job.get("error") is not None) is not (job["status"] == "failed"):
        yield f"{name} has the error {job.get('error')}"
    if job["recovery_attempts"] > job["attempt"]:
        yield f"{name} crashed {job['recovery_attempts']} times in {job['attempt']} attempts"
    if job["status"] == "completed" and job["attempt"] == 0:
        yield f"{name} is completed and never ran"


def wrong_logs(rows: Rows) -> Iterator[str]:
    """What is wrong with the logs, one by one and beside the rows of their jobs."""
    logs: defaultdict[str, list[Row]] = defaultdict(list)
    for entry in rows.log:
        logs[entry["job"]].append(entry)
    jobs = {job["id"]: job for job in rows.jobs}
    for stray in logs.keys() - jobs.keys():
        yield f"there is a log of the job {stray}, which does not exist"
    for job in rows.jobs:
        log = sorted(logs[job["id"]], key=lambda entry: entry["number"])
        name = f"the log of job {job['id']} ({job['kind']['type']})"
        if [entry["number"] for entry in log] != list(range(1, len(log) + 1)):
            yield f"{name} has gaps"
        if not log or log[0]["event"] != "created":
            yield f"{name} does not begin with its creation"
            continue
        yield from (f"{name}: {problem}" for problem in wrong_path(log))
        yield from (f"{name}: {problem}" for problem in wrong_summary(job, log))


def wrong_path(log: Sequence[Row]) -> Iterator[str]:
    """What is wrong with the order of a log's entries."""
    status, worker = "queued", None
    asked: set[str] = set()
    for entry in log[1:]:
        event, before, after = entry["event"], entry.get("before"), entry["after"]
        if (before, after) not in STEPS.get(event, set()) or before != status:
            yield f"{event} leads from {before} to {after} where the job was {status}"
        if event == "claimed":
            worker, asked = entry.get("worker"), set()
            if worker is None:
                yield "it was claimed by nobody"
        elif before == "running" and entry.get("worker") != worker:
            yield f"{event} happened to {entry.get('worker')} while {worker} ran it"
        if event.endswith("_requested"):
            asked.add(event)
        if event == "requeued" and asked:
            yield f"it was put back although {asked} was stored"
        if event == "failed" and asked and BUDGET in (entry.get("reason") or ""):
            yield f"a crash was charged although {asked} was stored"
        if event == "paused" and asked != {"pause_requested"}:
            yield f"it was paused after {asked or 'no request'}"
        if event == "cancelled" and before == "running" and "cancel_requested" not in asked:
            yield "it was cancelled without a request"
        status = after


def wrong_summary(job: Row, log: Sequence[Row]) -> Iterator[str]:
    """What a job's row says otherwise than its log."""
    events = Counter(entry["event"] for entry in log)
    if log[-1]["after"] != job["status"]:
        yield f"it ends with {log[-1]['after']} and the job is {job['status']}"
    if events["completed"] > 1:
        yield f"it was completed {events['completed']} times"
    if events["claimed"] != job["attempt"]:
        yield f"it was claimed {events['claimed']} times and counts {job['attempt']}"
    crashes = sum(entry["event"] in ("requeued", "failed") and charged(entry) for entry in log)
    if crashes != job["recovery_attempts"]:
        yield f"it crashed {crashes} times and counts {job['recovery_attempts']}"
    if sum(entry["event"] == "requeued" and charged(entry) for entry in log) >= job["max_attempts"]:
        yield f"it was put back after {crashes} crashes with a budget of {job['max_attempts']}"
    if crashes > job["max_attempts"] + events["retried"]:
        yield f"it crashed {crashes} times with a budget of {job['max_attempts']} and {events['retried']} retries"


def charged(entry: Row) -> bool:
    """Whether the entry tells of a crash that was charged. A stopping daemon puts jobs back without a reason."""
    reason = entry.get("reason") or ""
    return any(charge in reason for charge in CHARGES)


def wrong_ends(rows: Rows) -> Iterator[str]:
    """Failures that nobody can explain."""
    for job in rows.jobs:
        if job["status"] == "failed" and BUDGET not in job["error"]:
            yield f"job {job['id']} ({job['kind']['type']}) failed: {job['error']}"


def wrong_submissions(model: Model, rows: Rows) -> Iterator[str]:
    """Jobs that are lost, doubled, or that nobody submitted. Names those whose answer was lost."""
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for job in rows.jobs:
        found[job["requested_by"]].append(job)
    for token, submission in model.submissions.items():
        jobs = found.pop(token, [])
        if len(jobs) > 1:
            yield f"{submission} became {len(jobs)} jobs: {[job['id'] for job in jobs]}"
        elif not jobs and submission.id is not None:
            yield f"{submission} was acknowledged and is lost"
        elif jobs and not submission.possible:
            yield f"{submission} was refused and became the job {jobs[0]['id']}"
        elif jobs:
            yield from _adopt(submission, jobs[0])
    for token, jobs in found.items():
        if token != "system":
            yield f"nobody submitted the jobs {[job['id'] for job in jobs]} of {token}"


def _adopt(submission: Submission, job: Row) -> Iterator[str]:
    if submission.id is not None and submission.id != job["id"]:
        yield f"{submission} is job {job['id']}"
    submission.id = job["id"]
    submission.completed = job["status"] == "completed"
    for field, value in submission.body.items():
        if field != "emergency" and job["kind"].get(field) != value:
            yield f"{submission} has {field} {job['kind'].get(field)!r} instead of {value!r}"


def wrong_controls(model: Model, rows: Rows) -> Iterator[str]:
    """Acknowledged control requests that left no trace, and traces of requests nobody sent."""
    jobs = {job["id"]: job for job in rows.jobs}
    happened: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entry in rows.log:
        happened[entry["job"]][_request_of(entry)] += 1
    for submission in model.submitted():
        if submission.id is None or submission.id not in jobs:
            continue
        for control in ("pause", "resume", "cancel", "retry"):
            least = submission.acknowledged[control]
            most = least + submission.lost[control]
            if not least <= happened[submission.id][control] <= most:
                yield (
                    f"{control} of {submission} happened {happened[submission.id][control]} times; "
                    f"{least} were acknowledged, {submission.lost[control]} lost"
                )
        status = jobs[submission.id]["status"]
        if submission.acknowledged["cancel"] and status not in ENDS:
            yield f"{submission} is {status} although its cancellation was acknowledged"


def _request_of(entry: Row) -> str:
    """The control request that left this entry; nothing for the others."""
    match entry["event"], entry.get("before"):
        case ("pause_requested" | "cancel_requested") as event, _:
            return str(event.removesuffix("_requested"))
        case "cancelled", "queued" | "paused":
            return "cancel"
        case "resumed", _:
            return "resume"
        case "retried", _:
            return "retry"
    return ""


def wrong_listing(rows: Rows, told: Told) -> Iterator[str]:
    """Jobs that the daemon shows otherwise than they are stored."""
    stored = {job["id"]: job for job in rows.jobs}
    shown = {job["id"]: job for job in told.jobs}
    if stored.keys() != shown.keys() or len(told.jobs) != len(shown):
        yield f"the daemon lists {len(told.jobs)} jobs and {len(stored)} are stored: {stored.keys() ^ shown.keys()}"
    for id in stored.keys() & shown.keys():
        for field in ("status", "attempt", "recovery_attempts", "checkpoint", "result", "requested_by", "error", "kind"):
            if shown[id][field] != stored[id].get(field):
                yield f"job {id} shows {field} {shown[id][field]!r} and holds {stored[id].get(field)!r}"
    counted = Counter(job["status"] for job in rows.jobs)
    for status, number in told.by_status.items():
        if number != counted[status]:
            yield f"the daemon lists {number} {status} jobs and there are {counted[status]}"
    for status in ("queued", "running", "paused"):
        if told.status[f"jobs_{status}"] != counted[status]:
            yield f"the status counts {told.status[f'jobs_{status}']} {status} jobs and there are {counted[status]}"


def wrong_shown_logs(rows: Rows, told: Told) -> Iterator[str]:
    """Logs that the daemon shows otherwise than they are stored."""
    stored: defaultdict[str, list[Row]] = defaultdict(list)
    for entry in sorted(rows.log, key=lambda entry: entry["number"]):
        stored[entry["job"]].append(entry)
    for job, log in told.logs.items():
        events = [(entry["event"], entry["from"], entry["to"], entry["worker"], entry["at"]) for entry in log]
        kept = [
            (entry["event"], entry.get("before"), entry["after"], entry.get("worker"), entry["at"]) for entry in stored[job]
        ]
        if events != kept:
            yield f"the log of job {job} is shown as {events} and kept as {kept}"


def unfinished(jobs: Iterable[Row]) -> Iterator[str]:
    """Jobs that are neither settled nor paused."""
    for job in jobs:
        if job["status"] in ("queued", "running"):
            yield (
                f"job {job['id']} ({job['kind']['type']}, {job['requested_by']}) is stuck: {job['status']}, "
                f"attempt {job['attempt']}, lease {job.get('lease_owner')} until {job.get('lease_expires_at')}"
            )
