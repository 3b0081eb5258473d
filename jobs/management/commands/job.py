"""`job`: the jobs of the daemon."""

from __future__ import annotations

import argparse

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.jobs import kind_of, render_card, render_list, render_queued
from memcastle_site.console.parser import subcommands
from memcastle_site.console.paths import job_id
from memcastle_site.console.prompts import confirm
from palace.errors import InvalidInput

STATUSES = ("queued", "running", "paused", "completed", "failed", "cancelled")
DEMO_STEPS = 5


class Command(ConsoleCommand):
    help = "List and show jobs, pause, resume, cancel and retry them."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = subcommands(parser)
        listing = add("list", "list jobs, newest first", list_jobs)
        listing.add_argument("--status", choices=STATUSES, help="only jobs in this state")
        listing.add_argument("--limit", metavar="N", type=int, help="at most N jobs; all without it")
        id_help = "id of the job"
        add("show", "show a job with its result", show_job).add_argument("job", metavar="ID", help=id_help)
        add("pause", "pause a running job at its next step", pause_job).add_argument("job", metavar="ID", help=id_help)
        add("resume", "put a paused job back into the queue", resume_job).add_argument("job", metavar="ID", help=id_help)
        cancel = add("cancel", "cancel a job for good", cancel_job)
        cancel.add_argument("job", metavar="ID", help=id_help)
        cancel.add_argument("-y", "--yes", action="store_true", help="do not ask")
        add("retry", "queue a failed job again, from its checkpoint", retry_job).add_argument("job", metavar="ID", help=id_help)
        demo = add("demo", "queue a job that only counts", demo_job)
        demo.add_argument("--steps", metavar="N", type=int, default=DEMO_STEPS, help=f"default {DEMO_STEPS}")


def list_jobs(call: Call) -> None:
    if call.args.limit is not None and call.args.limit < 1:
        raise InvalidInput("--limit", "it must be at least 1")
    jobs = call.client.get(route("jobs"), {"status": call.args.status, "limit": call.args.limit})
    call.screen.show(jobs, lambda console: render_list(console, jobs))


def show_job(call: Call) -> None:
    job = call.client.get(route("jobs", job_id(call.args.job)))
    call.screen.show(job, lambda console: render_card(console, job))


def pause_job(call: Call) -> None:
    _control(call, "pause", "The job will pause at its next step.")


def resume_job(call: Call) -> None:
    _control(call, "resume", "The job is queued again and goes on from its checkpoint.")


def cancel_job(call: Call) -> None:
    identity = job_id(call.args.job)

    def question() -> str:
        job = call.client.get(route("jobs", identity))
        return f"Cancel the {job['status']} {kind_of(job)} job {identity}?"

    confirm(call.screen, question, yes=call.args.yes)
    _control(call, "cancel", "The job is cancelled; a running one stops at its next step.")


def retry_job(call: Call) -> None:
    _control(call, "retry", "The job is queued again and goes on from its checkpoint.")


def demo_job(call: Call) -> None:
    if call.args.steps < 0:
        raise InvalidInput("--steps", "it must not be negative")
    job = call.client.post(route("jobs"), {"type": "demo", "steps": call.args.steps, "requested_by": "cli"})
    call.screen.show(job, lambda console: render_queued(console, job))


def _control(call: Call, action: str, sentence: str) -> None:
    answer = call.client.post(route("jobs", job_id(call.args.job), action))
    call.screen.show(answer, lambda console: console.print(sentence))
