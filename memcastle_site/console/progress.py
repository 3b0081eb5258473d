"""The progress bar of a job that is waited for."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from memcastle_site.console.output import Screen

if TYPE_CHECKING:
    from rich.progress import Progress

    from memcastle_site.console.jobs import Job

WAITING = {
    "queued": "queued, waiting for a free worker",
    "running": "running",
}
AWAY = "the daemon does not answer, waiting for it"


class JobProgress:
    """A bar on stderr while that is a terminal, otherwise nothing.

    `unit` is the plural of what is counted. The rate is counted from the first sight of a running job. `skips` shows
    how much the job left out.
    """

    def __init__(self, screen: Screen, *, unit: str, skips: bool = False) -> None:
        self._unit = unit
        self._skips = skips
        self._running_since: float | None = None
        self._done_then = 0
        self._bar = _bar(screen) if screen.streams.stderr.isatty() else None
        self._task = self._bar.add_task("", total=None, counts="", rate="", skipped="") if self._bar else None

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, job: Job, *, done_before: int = 0, skipped_before: int = 0) -> None:
        """Shows the job; what earlier jobs of the same run did is added to its numbers."""
        if self._bar is None or self._task is None:
            return
        progress = job.get("progress") or {}
        done = done_before + int(progress.get("current") or 0)
        total = None if progress.get("total") is None else done_before + int(progress["total"])
        fields: dict[str, Any] = {"counts": f"{done:,}{'' if total is None else f'/{total:,}'} {self._unit}"}
        fields["rate"] = self._rate(job, done)
        if self._skips:
            fields["skipped"] = f"skipped {skipped_before + skipped_so_far(job):,}"
        status = WAITING.get(job["status"], str(job["status"]))
        self._bar.update(self._task, description=status, completed=done, total=total, **fields)

    def away(self) -> None:
        """Shows that the daemon cannot be asked."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=AWAY, rate="")

    def _rate(self, job: Job, done: int) -> str:
        if job["status"] != "running":
            return ""
        if self._running_since is None:
            self._running_since, self._done_then = time.monotonic(), done
        elapsed = time.monotonic() - self._running_since
        return f"{(done - self._done_then) / elapsed:,.0f}/s" if elapsed > 0.2 else ""


def skipped_so_far(job: Job) -> int:
    """How much a mine job has left out: from its result, or from its checkpoint while it runs."""
    counted = job.get("result") or (job.get("checkpoint") or {}).get("stats") or {}
    return int(counted.get("skipped") or 0)


def _bar(screen: Screen) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    columns = [TextColumn("{task.description}", markup=False), BarColumn(bar_width=24)]
    columns += [TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("counts", "rate", "skipped")]
    return Progress(*columns, console=screen.console(stderr=True), transient=True)
