"""`mine` waits for its jobs, follows truncated ones, and says how they ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memcastle_site.console import events
from mining.management.commands.mine import Command as Mine
from tests.console.support import JOB_ID, FakeDaemon, Request, Shell, error_body, job, mined

SECOND = "0b6f2c1e-4a5d-4c3b-8e7f-000000000002"
THIRD = "0b6f2c1e-4a5d-4c3b-8e7f-000000000003"
IDS = (JOB_ID, SECOND, THIRD)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, shell: Shell) -> None:
    monkeypatch.setattr(events, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(events, "LONGEST_PAUSE_SECONDS", 0.001)
    shell.environ["NO_COLOR"] = "1"


def mine_jobs(daemon: FakeDaemon, *endings: dict[str, Any]) -> None:
    """The daemon queues one job after the other; each runs once and then ends as told."""
    ids = iter(IDS)

    def submit(request: Request) -> tuple[int, Any]:
        return 200, job(id=next(ids), kind=request.body)

    daemon.replies["POST /api/jobs"] = submit
    for identity, ending in zip(IDS, endings, strict=False):
        running = job("running", id=identity, checkpoint={"stats": {"skipped": 1}}, progress={"current": 1, "total": 9})
        daemon.on(f"GET /api/jobs/{identity}", running, job(id=identity) | ending)


def completed(result: dict[str, Any]) -> dict[str, Any]:
    return {"status": "completed", "result": result}


def submissions(daemon: FakeDaemon) -> list[Any]:
    return [request.body for request in daemon.requests if request.method == "POST"]


def test_it_submits_waits_and_reports(shell: Shell, daemon: FakeDaemon, tmp_path: Path) -> None:
    mine_jobs(daemon, completed(mined(3, skipped=2, skipped_by_reason={"binary": 2}, missing=1)))
    outcome = shell.run(Mine, str(tmp_path), "since=2026-01", "--wing", "w", "--full")
    assert outcome.code == 0
    assert submissions(daemon) == [
        {
            "type": "mine",
            "path": str(tmp_path.resolve()),
            "wing": "w",
            "full": True,
            "options": {"since": "2026-01"},
            "requested_by": "cli",
        }
    ]
    report = outcome.json
    assert report["id"] == JOB_ID
    assert report["status"] == "completed"
    assert [found["id"] for found in report["jobs"]] == [JOB_ID]
    totals = report["totals"]
    assert (totals["documents"], totals["created"], totals["skipped"], totals["missing"]) == (3, 3, 2, 1)
    assert totals["skipped_by_reason"] == {"binary": 2}


def test_a_truncated_job_is_followed_until_the_source_is_exhausted(shell: Shell, daemon: FakeDaemon) -> None:
    mine_jobs(
        daemon,
        completed(mined(2000, truncated=True, skipped=1, skipped_by_reason={"binary": 1})),
        completed(mined(2000, truncated=True, skipped=2, skipped_by_reason={"binary": 1, "empty": 1})),
        completed(mined(5, missing=4)),
    )
    report = shell.run(Mine, "/somewhere", "--full").json
    assert [body["full"] for body in submissions(daemon)] == [True, False, False]
    assert [found["id"] for found in report["jobs"]] == list(IDS)
    assert report["id"] == THIRD
    assert report["totals"]["documents"] == 4005
    assert report["totals"]["skipped_by_reason"] == {"binary": 2, "empty": 1}
    assert report["totals"]["missing"] == 4


def test_once_stops_after_one_job_and_says_that_more_is_left(shell: Shell, daemon: FakeDaemon) -> None:
    mine_jobs(daemon, completed(mined(2000, truncated=True)))
    outcome = shell.run(Mine, "/somewhere", "--once")
    assert outcome.code == 0
    assert len(submissions(daemon)) == 1
    assert "Documents are left" in outcome.err


def test_a_truncated_job_that_handled_nothing_is_never_followed(shell: Shell, daemon: FakeDaemon) -> None:
    mine_jobs(daemon, completed(mined(0, truncated=True)))
    assert shell.run(Mine, "/somewhere").code == 0
    assert len(submissions(daemon)) == 1


@pytest.mark.parametrize(
    ("ending", "advice"),
    [
        ({"status": "failed", "error": "the directory is gone"}, f"job retry {JOB_ID}"),
        ({"status": "paused"}, f"job resume {JOB_ID}"),
        ({"status": "cancelled"}, "Run the command again"),
    ],
)
def test_a_job_that_does_not_complete_is_a_failure_with_advice(
    shell: Shell, daemon: FakeDaemon, ending: dict[str, Any], advice: str
) -> None:
    mine_jobs(daemon, {**ending, "checkpoint": {"stats": {"documents": 7, "skips": {"counts": {"binary": 2}}}}})
    outcome = shell.run(Mine, "/somewhere")
    assert outcome.code == 1
    assert outcome.json["status"] == ending["status"]
    assert outcome.json["totals"]["documents"] == 7
    assert outcome.json["totals"]["skipped_by_reason"] == {"binary": 2}
    assert "memcastle::cli::job_unfinished" in outcome.err
    assert advice in outcome.err
    assert ending.get("error", "") in outcome.err


def test_a_failure_after_a_truncated_job_keeps_what_the_first_did(shell: Shell, daemon: FakeDaemon) -> None:
    mine_jobs(daemon, completed(mined(2000, truncated=True)), {"status": "failed", "error": "x"})
    outcome = shell.run(Mine, "/somewhere")
    assert outcome.code == 1
    assert outcome.json["totals"]["documents"] == 2000
    assert len(outcome.json["jobs"]) == 2


def test_detached_it_only_queues(shell: Shell, daemon: FakeDaemon) -> None:
    mine_jobs(daemon)
    assert shell.run(Mine, "/somewhere", "--detach").json["status"] == "queued"
    assert daemon.asked() == ["POST /api/jobs"]


def test_a_refusal_queues_nothing_and_is_shown(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/jobs", (400, error_body("memcastle::input::invalid", "options: unknown option 'sinse'")))
    outcome = shell.run(Mine, "/somewhere", "sinse=1")
    assert outcome.code == 1
    assert "sinse" in outcome.err


def test_the_closing_report_explains_what_was_left_out(shell: Shell, daemon: FakeDaemon) -> None:
    examples = [{"path": f"img/{number}.png", "reason": "binary"} for number in range(5)]
    examples.append({"path": "odd\nname\x1b", "reason": "empty"})
    mine_jobs(
        daemon,
        completed(
            mined(
                3,
                skipped=6,
                skipped_by_reason={"binary": 5, "empty": 1},
                skipped_examples=examples,
                missing=1,
                missing_examples=["old.md"],
                unchanged=2,
                unchanged_elsewhere=1,
            )
        ),
    )
    outcome = shell.run(Mine, "/somewhere", terminal=True)
    assert outcome.code == 0
    assert "binary 5: img/0.png, img/1.png, img/2.png, …" in outcome.out
    assert "empty 1: odd\\nname\\x1b\n" in outcome.out
    assert "1 filed earlier, not there any more: old.md" in outcome.out
    assert "2 (1 of them filed in another wing)" in outcome.out
    assert "3 created" in outcome.out


def test_unknown_words_are_refused_with_the_daemons_sources(
    shell: Shell, daemon: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    daemon.on("GET /api/sources", {"adapters": [{"name": "directory"}, {"name": "pi"}], "sources": []})
    outcome = shell.run(Mine, "nowhere")
    assert outcome.code == 1
    assert "directory, pi" in outcome.err
    daemon.on("GET /api/sources", (404, error_body("memcastle::server::route_not_found", "no such route")))
    assert "Known sources: directory." in shell.run(Mine, "nowhere").err
    assert submissions(daemon) == []


def test_ctrl_c_while_waiting_leaves_the_job_and_says_how_to_go_on(
    shell: Shell, daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(connect: object, record: dict[str, Any], *, away: object) -> Iterator[dict[str, Any]]:
        yield record
        raise KeyboardInterrupt

    monkeypatch.setattr("mining.management.commands.mine.watch", interrupted)
    daemon.on("POST /api/jobs", job())
    outcome = shell.run(Mine, "/somewhere")
    assert outcome.code == 130
    assert f"job watch {JOB_ID}" in outcome.err
    assert f"job cancel {JOB_ID}" in outcome.err
    assert outcome.out == ""
