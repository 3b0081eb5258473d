"""`job watch`: one job until it has settled, or all of them until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from memcastle_site.console.client import accepted, route
from memcastle_site.console.command import EXIT_INTERRUPTED, Call
from memcastle_site.console.events import Event, Follower, News
from memcastle_site.console.jobs import (
    Job,
    detail_text,
    job_line,
    kind_of,
    progress_text,
    render_card,
    tell_interrupted,
    unfinished,
    watch,
)
from memcastle_site.console.output import STATUS_STYLES, Screen
from memcastle_site.console.progress import AWAY, JobProgress
from memcastle_site.console.text import harmless_line, moment
from palace.domain.limits import LARGEST_LIMIT

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

UNITS = {"mine": "documents", "audit": "drawers", "repair": "drawers", "checkpoint": "items", "demo": "steps"}
ACTIVE = ("running", "queued", "paused")
REMEMBERED = 1000
"""How many jobs that ended are remembered, so that a late event of one is no news."""
REDRAW_SECONDS = 0.1
"""What arrives meanwhile is shown together."""


def watch_one(call: Call, identity: str) -> int | None:
    """Follows one job: a bar on a terminal, a line of JSON for each status in a pipe.

    Returns the exit code. Raises JobUnfinished when the job has settled without completing.
    """
    job: Job = call.client.get(route("jobs", identity))
    told = None
    try:
        with JobProgress(call.screen, unit=UNITS.get(kind_of(job), "steps"), skips=kind_of(job) == "mine") as progress:
            for state in watch(call.connect, job, away=progress.away):
                job = state
                progress.update(job)
                if not call.screen.wants_text and job["status"] != told:
                    told = job["status"]
                    call.screen.json_line(job)
    except KeyboardInterrupt:
        if job["status"] in ACTIVE:
            tell_interrupted(call.screen, job)
        return EXIT_INTERRUPTED
    problem = unfinished(job)
    if problem is not None:
        raise problem
    if call.screen.wants_text:
        render_card(call.screen.console(), job)
    return None


def watch_all(call: Call) -> None:
    """Follows all jobs: a live table on a terminal, a line of JSON for each status in a pipe. Ends by an error only."""
    # A daemon that is not there at the beginning is not one that restarts.
    call.client.get(route("health"))
    with Follower(call.connect) as follower, _display(call.screen) as display:
        board = Board(follower, display)
        for news in follower:
            board.take(news)


class Display(Protocol):
    """What shows the jobs that are followed."""

    shows_progress: bool

    def changed(self, job: Job, *, known: bool) -> None:
        """A job has another status, or is seen for the first time; `known`: others were seen before."""

    def refresh(self, active: list[Job], *, away: bool) -> None:
        """Everything that has arrived was told."""


class Board:
    """The jobs that wait, run or pause, kept up to date by the news."""

    def __init__(self, follower: Follower, display: Display) -> None:
        self._follower = follower
        self._display = display
        self._active: dict[str, Job] = {}
        self._ended: dict[str, str] = {}
        self._read = False

    def take(self, news: News) -> None:
        """Reads again what the news is about, and shows it."""
        if news.everything:
            self._read_all()
        for identity, event in news.jobs().items():
            if event.action == "deleted":
                self._active.pop(identity, None)
            elif self._is_news(identity, event):
                self._read_one(identity)
        self._display.refresh(sorted(self._active.values(), key=_place), away=news.away)

    def _is_news(self, identity: str, event: Event) -> bool:
        known = self._active.get(identity)
        if known is None:
            return event.status is None or self._ended.get(identity) != event.status
        return self._display.shows_progress or event.status != known["status"]

    def _read_all(self) -> None:
        seen: set[str] = set()
        for status in ACTIVE:
            answer = self._follower.ask(route("jobs"), {"status": status, "limit": LARGEST_LIMIT})
            if answer is None:
                return
            for job in reversed(accepted(answer)):
                seen.add(job["id"])
                self._update(job)
        # What was active and is no more ended while nobody looked.
        for identity in [known for known in self._active if known not in seen]:
            self._read_one(identity)
        self._read = True

    def _read_one(self, identity: str) -> None:
        answer = self._follower.ask(route("jobs", identity))
        if answer is None:
            return
        if answer.status == 404:
            self._active.pop(identity, None)
            return
        self._update(accepted(answer))

    def _update(self, job: Job) -> None:
        identity, status = job["id"], job["status"]
        known = self._active.get(identity)
        before = known["status"] if known is not None else self._ended.get(identity)
        if status in ACTIVE:
            self._active[identity] = job
            self._ended.pop(identity, None)
        else:
            self._active.pop(identity, None)
            self._ended[identity] = status
            if len(self._ended) > REMEMBERED:
                del self._ended[next(iter(self._ended))]
        if status != before:
            self._display.changed(job, known=self._read)


def _place(job: Job) -> tuple[int, str]:
    return ACTIVE.index(job["status"]), job["created_at"]


@contextmanager
def _display(screen: Screen) -> Iterator[Display]:
    if not screen.wants_text:
        yield Lines(screen)
        return
    from rich.live import Live

    with Live(console=screen.console(), auto_refresh=False, transient=True) as live:
        yield Table(live)


class Lines:
    """A line of JSON for each job that has another status than before."""

    shows_progress = False

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def changed(self, job: Job, *, known: bool) -> None:
        self._screen.json_line(job)

    def refresh(self, active: list[Job], *, away: bool) -> None:
        """Nothing: what changed has been printed."""


class Table:
    """A line for each change, and below them a table of what is active."""

    shows_progress = True

    def __init__(self, live: Live) -> None:
        self._live = live

    def changed(self, job: Job, *, known: bool) -> None:
        if not known:
            return
        when = moment(job["completed_at"] or job["started_at"] or job["created_at"])
        self._live.console.print(job_line(job, when), soft_wrap=True)

    def refresh(self, active: list[Job], *, away: bool) -> None:
        # Lines above the table keep the last word; half a screen is for them.
        room = max(3, self._live.console.height // 2)
        self._live.update(_table(active[:room], len(active) - room, away), refresh=True)
        time.sleep(REDRAW_SECONDS)


def _table(jobs: list[Job], more: int, away: bool) -> Group:
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, show_header=False, pad_edge=False, expand=False)
    for name in ("id", "kind", "status", "progress"):
        grid.add_column(name, no_wrap=True)
    grid.add_column("detail", no_wrap=True, overflow="ellipsis")
    for job in jobs:
        status = Text(str(job["status"]), STATUS_STYLES.get(str(job["status"]), ""))
        grid.add_row(str(job["id"]), kind_of(job), status, progress_text(job), harmless_line(detail_text(job)))
    notes = []
    if not jobs:
        notes.append("no job waits, runs or pauses")
    if more > 0:
        notes.append(f"and {more:,} more")
    notes.append(AWAY if away else "Ctrl-C ends this view, and no job")
    return Group(grid, Text("; ".join(notes), "dim"))
