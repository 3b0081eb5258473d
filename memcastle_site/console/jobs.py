"""Waiting for jobs and showing them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcastle_site.console.client import DaemonClient, accepted, route
from memcastle_site.console.events import Follower
from memcastle_site.console.output import STATUS_STYLES, Screen
from memcastle_site.console.text import harmless, harmless_line, moment
from palace.errors import MemCastleError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Job = dict[str, Any]
"""A job as the daemon answers it."""

SETTLED = ("completed", "failed", "cancelled", "paused")


class JobUnfinished(MemCastleError):
    """A job that was waited for ended, or stopped, without completing."""

    code = "memcastle::cli::job_unfinished"
    help = "See what became of it with `python manage.py job show ID`."


def kind_of(job: Mapping[str, Any]) -> str:
    """`mine`, `audit` and so on."""
    kind = job.get("kind")
    return str(kind.get("type", "?")) if isinstance(kind, Mapping) else str(kind)


def watch(
    connect: Callable[[], DaemonClient],
    job: Job,
    *,
    away: Callable[[], None] = lambda: None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Job]:
    """Yields the job as it is now and whenever there is news of it, until it has settled.

    A daemon that stops answering, or says that it is shutting down, is waited for during
    `console.events.PATIENCE_SECONDS`, since jobs outlive it; `connect` finds the one that comes back. Then its error is
    raised, and at once when there is no such job. `away` is called whenever it cannot be reached.
    """
    yield job
    if job["status"] in SETTLED:
        return
    with Follower(connect, sleep=sleep, clock=clock) as follower:
        for news in follower:
            if news.away:
                away()
                continue
            # A sign of life is a moment to look, too: then nothing that an event failed to tell stays unseen for long.
            if news.events and not news.everything and job["id"] not in news.jobs():
                continue
            answer = follower.ask(route("jobs", str(job["id"])))
            if answer is None:
                continue
            job = accepted(answer)
            yield job
            if job["status"] in SETTLED:
                return


def unfinished(job: Job) -> JobUnfinished | None:
    """The error of a job that settled without completing, with what can be done about it."""
    identity = job["id"]
    match job["status"]:
        case "failed":
            reason = f": {job['error']}" if job.get("error") else ""
            return JobUnfinished(
                f"{kind_of(job)} job {identity} failed{reason}",
                help=f"Correct the cause, then continue from its checkpoint with `python manage.py job retry {identity}`.",
            )
        case "cancelled":
            return JobUnfinished(
                f"{kind_of(job)} job {identity} was cancelled",
                help="What it had stored is kept. Run the command again to go on.",
            )
        case "paused":
            return JobUnfinished(
                f"{kind_of(job)} job {identity} was paused",
                help=f"Continue it with `python manage.py job resume {identity}`.",
            )
    return None


def tell_interrupted(screen: Screen, job: Job) -> None:
    """Says after Ctrl-C that the job goes on without the command."""
    identity = job["id"]
    screen.note(
        f"\nThe job goes on in the daemon.\n"
        f"  watch it:  python manage.py job watch {identity}\n"
        f"  cancel it: python manage.py job cancel {identity}"
    )


def progress_text(job: Job) -> str:
    """`3/10`, or `3` while the total is unknown, or nothing before anything happened."""
    progress = job.get("progress") or {}
    current, total = progress.get("current") or 0, progress.get("total")
    if total is None:
        return str(current) if current else ""
    return f"{current}/{total}"


def detail_text(job: Job) -> str:
    """The error of a failed job, otherwise its last progress message."""
    progress = job.get("progress") or {}
    return str(job.get("error") or progress.get("message") or "")


def render_card(console: Console, job: Job) -> None:
    """One job, a line for each fact."""
    from rich.text import Text

    rows = [
        ("status", str(job["status"])),
        ("progress", progress_text(job)),
        ("detail", detail_text(job)),
        *((name, str(value)) for name, value in _asked_for(job)),
        ("priority", str(job.get("priority", ""))),
        ("requested by", str(job.get("requested_by", ""))),
        ("created", moment(job.get("created_at"))),
        ("started", moment(job.get("started_at"))),
        ("completed", moment(job.get("completed_at"))),
        ("attempts", f"{job.get('attempt', 0)} (crashes {job.get('recovery_attempts', 0)} of {job.get('max_attempts', 0)})"),
    ]
    console.print(Text.assemble((kind_of(job), "bold"), f" job {job['id']}"))
    for name, value in rows:
        if value:
            style = STATUS_STYLES.get(value, "") if name == "status" else ""
            console.print(Text.assemble((f"  {name:<13}", "dim"), (harmless_line(value), style)), soft_wrap=True)
    if job.get("result") is not None:
        render_result(console, job["result"])


def render_result(console: Console, result: object) -> None:
    """The result of a job: one line a key that holds something, lists and objects as compact JSON."""
    import json

    from rich.text import Text

    console.print(Text("  result", "dim"))
    entries = result.items() if isinstance(result, Mapping) else [("", result)]
    for name, value in entries:
        if value in (None, [], {}):
            continue
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        console.print(Text.assemble((f"    {harmless_line(str(name))} ", "dim"), harmless(shown)), soft_wrap=True)


def render_queued(console: Console, job: Job) -> None:
    """The card of a job that was only queued, and how to follow it."""
    from rich.text import Text

    render_card(console, job)
    console.print(Text(f"\nFollow it with: python manage.py job watch {job['id']}", "dim"), soft_wrap=True)


def render_list(console: Console, jobs: list[Job]) -> None:
    """A line for each job with its whole id, and below it the error or the last message, which no column could hold."""
    from rich.text import Text

    if not jobs:
        console.print("no jobs")
    for job in jobs:
        console.print(job_line(job, moment(job.get("created_at"))), soft_wrap=True)
        if detail := detail_text(job):
            console.print(Text(f"    {harmless_line(detail)}"), soft_wrap=True)


def job_line(job: Job, when: str) -> Text:
    """Id, kind and status of a job, an instant, and how far it is."""
    from rich.text import Text

    status = str(job["status"])
    style = STATUS_STYLES.get(status, "")
    rest = f"  {when}  {progress_text(job)}".rstrip()
    return Text.assemble(f"{job['id']}  {kind_of(job):<10}  ", (f"{status:<9}", style), (rest, "dim"))


def render_log(console: Console, log: Sequence[Mapping[str, Any]], indent: str = "") -> None:
    """A line for each thing that happened to a job, and below it why, where there is more to say."""
    from rich.text import Text

    for entry in log:
        status, before = str(entry["to"]), entry.get("from")
        moved = status if before in (None, status) else f"{before} → {status}"
        line = Text.assemble((f"{indent}{moment(entry['at'])}  ", "dim"), f"{entry['event']:<16}  ")
        line.append(f"{moved:<19}", STATUS_STYLES.get(status, ""))
        line.append(f"  {entry['worker']}" if entry.get("worker") else "", "dim")
        line.rstrip()
        console.print(line, soft_wrap=True)
        if entry.get("reason"):
            console.print(Text(f"{indent}    {harmless_line(str(entry['reason']))}"), soft_wrap=True)


def _asked_for(job: Job) -> Iterator[tuple[str, object]]:
    kind = job.get("kind")
    if isinstance(kind, Mapping):
        yield from ((str(name), value) for name, value in kind.items() if name != "type" and value not in (None, False, {}, ""))
