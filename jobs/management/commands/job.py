"""`job`: the jobs of the daemon."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.jobs import Job, kind_of, render_card, render_list, render_log, render_queued
from memcastle_site.console.parser import subcommands
from memcastle_site.console.paths import job_id
from memcastle_site.console.prompts import confirm
from palace.domain.limits import LARGEST_LIMIT
from palace.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

STATUSES = ("queued", "running", "paused", "completed", "failed", "cancelled")
DEMO_STEPS = 5
PAGE = 50


class Command(ConsoleCommand):
    help = "List, show and follow jobs, pause, resume, cancel and retry them."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = subcommands(parser)
        listing = add("list", "list jobs, newest first", list_jobs)
        listing.add_argument("--status", choices=STATUSES, help="only jobs in this state")
        listing.add_argument("--kind", metavar="KIND", help="only jobs of this kind, such as mine")
        listing.add_argument("--limit", metavar="N", type=int, help=f"at most N jobs; {PAGE} with --kind or --before, else all")
        listing.add_argument("--before", metavar="ID", help="only jobs older than this one")
        id_help = "id of the job"
        showing = add("show", "show a job with its result, on a terminal also its log", show_job)
        showing.add_argument("job", metavar="ID", help=id_help)
        showing.add_argument("--log", action="store_true", help="as JSON: print job and log")
        add("log", "show what happened to a job", show_log).add_argument("job", metavar="ID", help=id_help)
        watching = add("watch", "follow a job until it has ended or paused; without an ID all jobs", watch_jobs)
        watching.add_argument("job", metavar="ID", nargs="?", help=id_help)
        add("pause", "pause a running job at its next step", pause_job).add_argument("job", metavar="ID", help=id_help)
        add("resume", "put a paused job back into the queue", resume_job).add_argument("job", metavar="ID", help=id_help)
        for name, sentence, run in (
            ("cancel", "cancel a job for good", cancel_job),
            ("force-cancel", "cancel a running job without waiting for its next step", force_cancel_job),
        ):
            cancel = add(name, sentence, run)
            cancel.add_argument("job", metavar="ID", help=id_help)
            cancel.add_argument("-y", "--yes", action="store_true", help="do not ask")
        add("retry", "queue a failed job again, from its checkpoint", retry_job).add_argument("job", metavar="ID", help=id_help)
        demo = add("demo", "queue a job that only counts", demo_job)
        demo.add_argument("--steps", metavar="N", type=int, default=DEMO_STEPS, help=f"default {DEMO_STEPS}")


def list_jobs(call: Call) -> None:
    args = call.args
    if args.limit is not None and args.limit < 1:
        raise InvalidInput("--limit", "it must be at least 1")
    filters = {"status": args.status, "kind": args.kind}
    before = None if args.before is None else job_id(args.before)
    if args.limit is None and args.kind is None and before is None:
        wanted = None
        jobs = call.client.get(route("jobs"), filters)
    else:
        wanted = args.limit or PAGE
        jobs = _pages(call, filters, wanted, before)

    def render(console: Console) -> None:
        render_list(console, jobs)
        if jobs and len(jobs) == wanted:
            words = [f"--{name} {value}" for name, value in (*filters.items(), ("limit", args.limit)) if value is not None]
            command = " ".join(["python manage.py job list", *words, "--before", jobs[-1]["id"]])
            console.print(f"\nNext page: {command}", style="dim", soft_wrap=True)

    call.screen.show(jobs, render)


def _pages(call: Call, filters: dict[str, str | None], wanted: int, before: str | None) -> list[Job]:
    """At most `wanted` jobs; the daemon gives LARGEST_LIMIT of them at a time."""
    jobs: list[Job] = []
    while len(jobs) < wanted:
        size = min(wanted - len(jobs), LARGEST_LIMIT)
        page = call.client.get(route("jobs"), {**filters, "limit": size, "before": before})
        jobs += page
        if len(page) < size:
            break
        before = page[-1]["id"]
    return jobs


def show_job(call: Call) -> None:
    identity = job_id(call.args.job)
    job = call.client.get(route("jobs", identity))
    if not call.screen.wants_text and not call.args.log:
        call.screen.json(job)
        return
    log = call.client.get(route("jobs", identity, "log"))

    def render(console: Console) -> None:
        render_card(console, job)
        console.print("  log", style="dim")
        render_log(console, log, indent="    ")

    call.screen.show({"job": job, "log": log}, render)


def show_log(call: Call) -> None:
    log = call.client.get(route("jobs", job_id(call.args.job), "log"))
    call.screen.show(log, lambda console: render_log(console, log))


def watch_jobs(call: Call) -> int | None:
    # What only this action needs is not worth the time of the others.
    from memcastle_site.console.watching import watch_all, watch_one

    if call.args.job is not None:
        return watch_one(call, job_id(call.args.job))
    watch_all(call)
    return None


def pause_job(call: Call) -> None:
    _control(call, "pause", "The job will pause at its next step.")


def resume_job(call: Call) -> None:
    _control(call, "resume", "The job is queued again and goes on from its checkpoint.")


def cancel_job(call: Call) -> None:
    _confirm(call, "Cancel", "")
    _control(call, "cancel", "The job is cancelled; a running one stops at its next step.")


def force_cancel_job(call: Call) -> None:
    _confirm(call, "Cancel", " without waiting for its next step")
    _control(call, "force-cancel", "The job is cancelled.")


def retry_job(call: Call) -> None:
    _control(call, "retry", "The job is queued again and goes on from its checkpoint.")


def demo_job(call: Call) -> None:
    if call.args.steps < 0:
        raise InvalidInput("--steps", "it must not be negative")
    job = call.client.post(route("jobs"), {"type": "demo", "steps": call.args.steps, "requested_by": "cli"})
    call.screen.show(job, lambda console: render_queued(console, job))


def _confirm(call: Call, verb: str, how: str) -> None:
    identity = job_id(call.args.job)

    def question() -> str:
        job = call.client.get(route("jobs", identity))
        return f"{verb} the {job['status']} {kind_of(job)} job {identity}{how}?"

    confirm(call.screen, question, yes=call.args.yes)


def _control(call: Call, action: str, sentence: str) -> None:
    answer = call.client.post(route("jobs", job_id(call.args.job), action))
    call.screen.show(answer, lambda console: console.print(sentence))
