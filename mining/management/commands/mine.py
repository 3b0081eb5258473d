"""`mine`: takes a directory, or another source, into the palace."""

from __future__ import annotations

import argparse
import time

from memcastle_site.console.client import route
from memcastle_site.console.command import EXIT_INTERRUPTED, Call, ConsoleCommand
from memcastle_site.console.jobs import Job, render_queued, tell_interrupted, unfinished, watch
from memcastle_site.console.mining import Target, Totals, find_target, goes_on, known_sources, render_totals, sort_words
from memcastle_site.console.progress import JobProgress


class Command(ConsoleCommand):
    help = "Mine a directory or another source, and wait until all of it is filed."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "words",
            metavar="WORD",
            nargs="+",
            help="PATH [KEY=VALUE]..., or SOURCE [PLACE] [KEY=VALUE]...; write ./NAME for a directory in the current one",
        )
        parser.add_argument("--wing", metavar="WING", help="name of the wing; default: the name of the directory")
        parser.add_argument("--full", action="store_true", help="read from the start; unchanged documents stay as they are")
        parser.add_argument("--detach", action="store_true", help="only queue the job")
        parser.add_argument("--once", action="store_true", help="stop after one job, though documents may be left")

    def run(self, call: Call) -> int | None:
        words = sort_words(call.args.words)
        target = find_target(words, lambda: known_sources(call.client))
        request = target.request(wing=call.args.wing, full=call.args.full, options=words.options)
        job = call.client.post(route("jobs"), request)
        if call.args.detach:
            call.screen.show(job, lambda console: render_queued(console, job))
            return None
        # The jobs that follow go on where the one before stopped; a full one would start over, without end.
        return _follow(call, target, job, {**request, "full": False})


def _follow(call: Call, target: Target, job: Job, next_request: dict[str, object]) -> int | None:
    started = time.monotonic()
    totals = Totals()
    jobs: list[Job] = []
    try:
        with JobProgress(call.screen, unit="documents", skips=True) as progress:
            while True:
                done, skipped = totals.counters["documents"], totals.counters["skipped"]
                for state in watch(call.connect, job, away=progress.away):
                    job = state
                    progress.update(job, done_before=done, skipped_before=skipped)
                totals.add(job)
                jobs.append(job)
                if call.args.once or not goes_on(job):
                    break
                job = call.connect().post(route("jobs"), next_request)
    except KeyboardInterrupt:
        tell_interrupted(call.screen, job)
        return EXIT_INTERRUPTED
    report = {"id": job["id"], "status": job["status"], "jobs": jobs, "totals": totals.as_json()}
    seconds = time.monotonic() - started
    call.screen.show(report, lambda console: render_totals(console, target, totals, jobs, seconds))
    problem = unfinished(job)
    if problem is not None:
        raise problem
    if (job.get("result") or {}).get("truncated"):
        call.screen.note("Documents are left: run the same command again to go on.")
    return None
