"""The errors of jobs (`docs/errors.md`)."""

from __future__ import annotations

from palace.errors import MemCastleError


class JobIdInvalid(MemCastleError):
    """The text given as a job id is no UUID."""

    code = "memcastle::jobs::id_invalid"
    status = 400
    help = "Job ids are UUIDs; list them with `python manage.py job list`."


class JobNotFound(MemCastleError):
    """No job has that id."""

    code = "memcastle::jobs::not_found"
    status = 404
    help = "List the jobs with `python manage.py job list`."


class TransitionInvalid(MemCastleError):
    """The job's status does not allow what was asked of it."""

    code = "memcastle::jobs::transition_invalid"
    status = 400
    help = (
        "See the job's status with `python manage.py job show ID`: only a running job can be paused, only a paused one "
        "resumed, only a failed one retried."
    )


class JobOrphaned(MemCastleError):
    """The job is recorded as running, and no living worker answers for it."""

    code = "memcastle::jobs::orphaned"
    status = 409
    help = (
        "The daemon puts such jobs back into the queue by itself, at the latest jobs.lease_ttl_secs after the last sign of "
        "life; repeat the request then."
    )


class JobContended(MemCastleError):
    """The job kept changing while the request was carried out; nothing was done."""

    code = "memcastle::jobs::contended"
    status = 409
    help = "Nothing was done. Repeat the request."


class BasedOnJobInvalid(MemCastleError):
    """The job that a repair is to be based on is no completed audit with a report."""

    code = "memcastle::repair::based_on_job_invalid"
    status = 400
    help = "Run an audit (`python manage.py audit`), wait until it has completed, and name its id; or leave the id out."


class FactsUnavailable(MemCastleError):
    """A checkpoint carries a fact, and this version keeps no knowledge graph."""

    code = "memcastle::graph::facts_unavailable"
    status = 400
    help = "Nothing was stored and no job was queued. Send the checkpoint again without the field `fact`."


class LeaseLost(MemCastleError):
    """The job no longer belongs to the worker that ran it: another one took it over, or it was taken away."""

    code = "memcastle::jobs::lease_lost"
    help = "The run was dropped; whoever holds the job now continues it from its last checkpoint."
