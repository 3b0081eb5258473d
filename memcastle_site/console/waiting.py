"""What `audit`, `repair` and `checkpoint` do alike: queue a job, wait for it, show what it did."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from memcastle_site.console.client import route
from memcastle_site.console.command import EXIT_INTERRUPTED, Call
from memcastle_site.console.jobs import Job, render_queued, tell_interrupted, unfinished, watch
from memcastle_site.console.progress import JobProgress

if TYPE_CHECKING:
    from rich.console import Console


def add_detach(parser: argparse.ArgumentParser) -> None:
    """Declares `--detach`."""
    parser.add_argument("--detach", action="store_true", help="only queue the job")


def submit_and_wait(
    call: Call, request: Mapping[str, object], *, unit: str, render: Callable[[Console, Job], None]
) -> int | None:
    """Queues the job and shows it once it has completed; `unit` is the plural of what its progress counts.

    With `--detach` the queued job is shown. Returns the exit code. Raises JobUnfinished when the job did not complete;
    in a pipe it is printed all the same.
    """
    job: Job = call.client.post(route("jobs"), {"requested_by": "cli", **request})
    if call.args.detach:
        call.screen.show(job, lambda console: render_queued(console, job))
        return None
    try:
        with JobProgress(call.screen, unit=unit) as progress:
            for state in watch(call.connect, job, away=progress.away):
                job = state
                progress.update(job)
    except KeyboardInterrupt:
        tell_interrupted(call.screen, job)
        return EXIT_INTERRUPTED
    problem = unfinished(job)
    if problem is None or not call.screen.wants_text:
        call.screen.show(job, lambda console: render(console, job))
    if problem is not None:
        raise problem
    return None
