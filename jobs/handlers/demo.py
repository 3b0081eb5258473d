"""A job without effects: it counts steps, to show pausing, resuming and draining at work."""

from __future__ import annotations

from collections.abc import Generator

from jobs.domain.job import Progress
from jobs.runtime.run import JobRun, Unit

STEP_SECONDS = 0.1


def demo(run: JobRun) -> Generator[Unit, None, None]:
    """Counts to `steps`, with a short rest in each, from where the last run stopped."""
    steps = run.job.params["steps"]
    for step in range(run.job.checkpoint.get("step", 0) + 1, steps + 1):
        run.wait(STEP_SECONDS)
        yield Unit(Progress(step, steps, f"step {step} of {steps}"), {"step": step})
