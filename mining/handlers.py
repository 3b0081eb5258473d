"""The handler of mine jobs."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from jobs.runtime.run import JobRun, Unit
from mining.adapters.registry import adapter
from mining.pipeline import begin, sweep_source
from mining.services import DIRECTORY, prepare_run
from palace.domain.modes import Caller


def mine(run: JobRun) -> Generator[Unit, None, dict[str, Any]]:
    """Mines the source that the job names."""
    wish = run.job.params
    chosen = adapter(wish.get("source", DIRECTORY))
    ref = chosen.identify(wish.get("path", wish.get("locator")), wish.get("options", {}))
    caller = Caller(requested_by=run.job.requested_by)
    prepared = run.call(prepare_run(caller, chosen, ref, wish.get("wing")))
    return (yield from sweep_source(begin(run, chosen, ref, prepared, full=wish.get("full", False))))
