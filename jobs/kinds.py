"""The kinds of job this daemon can run.

An app registers its kinds in its `wiring` module, which only the composition root imports: whoever merely talks to a
daemon need not load what runs in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobs.domain.job import Job, Priority
from jobs.runtime.run import JobRun, Unit
from palace.domain.modes import Caller

if TYPE_CHECKING:
    from palace.http import Body

    RequestModel = type[Body]

Params = Mapping[str, Any]
Handler = Callable[[JobRun], Generator[Unit, None, Params | None]]
"""Does the work in a worker's thread, yielding after each unit of it; what it returns becomes the job's result."""


def never(params: Params) -> bool:
    """For kinds that leave the palace as it is."""
    return False


def always(params: Params) -> bool:
    """For kinds that write to the palace."""
    return True


@dataclass(frozen=True, slots=True)
class JobKind:
    """What the queue must know of a kind."""

    type: str
    priority: Priority
    background: bool
    """Whether its jobs share the limit of background jobs."""
    writes_palace: Callable[[Params], bool]
    """Whether a job with these parameters writes to the palace, so that deletions wait for it."""
    request: RequestModel
    """The fields of a submission, beside `type` and `requested_by`."""
    submit: Callable[[Any, Caller], Awaitable[Job]]
    """Carries out a submission: memory mode, checks of the fields, then `jobs.services.submit`."""
    handler: Handler
    can_be_forced: bool = False
    """Whether a run of it may be broken off anywhere: all it commits is complete in itself, and fenced."""


_kinds: dict[str, JobKind] = {}


def register(kind: JobKind) -> None:
    """Makes a kind known. Registering the same one again changes nothing; raises ValueError for another one of its type."""
    if _kinds.setdefault(kind.type, kind) != kind:
        raise ValueError(f"two job kinds are called {kind.type!r}")


def find(type_: str) -> JobKind | None:
    """The kind of that type, when it is registered."""
    return _kinds.get(type_)


def registered() -> list[JobKind]:
    """All kinds, in order of registration."""
    return list(_kinds.values())
