"""REST routes of jobs: submit, list, show, control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Body as BodyParam
from ninja import Path, Query, Router, Schema
from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from jobs import kinds, services
from jobs.domain.job import job_json
from palace.http import Body, Limit, caller

router = Router(tags=["jobs"])

JobId = Annotated[str, Path(description="The job's UUID.")]


class DemoIn(Body):
    """A job that counts steps and changes nothing."""

    steps: int = Field(ge=0, le=2**32 - 1)


class AuditIn(Body):
    """A report on the consistency of the palace."""

    wing: str | None = Field(None, description="Name of the wing to count in; default the whole palace.")


class ProgressOut(Schema):
    current: int
    total: int | None = Field(description="Null while unknown.")
    message: str | None


class JobOut(Schema):
    id: str
    kind: dict[str, Any] = Field(description="`type` and the parameters of that kind.")
    status: Literal["queued", "running", "paused", "completed", "failed", "cancelled"]
    priority: int = Field(description="100 critical, 75 high, 50 normal, 25 low, 0 background.")
    created_at: str
    started_at: str | None = Field(description="When it was first claimed.")
    completed_at: str | None = Field(description="When it completed, failed or was cancelled.")
    requested_by: str
    progress: ProgressOut
    attempt: int = Field(description="Claims so far.")
    recovery_attempts: int = Field(description="Crashes survived, budgeted by max_attempts.")
    max_attempts: int
    checkpoint: dict[str, Any] = Field(description="Where a later run continues.")
    result: dict[str, Any] | None = Field(description="The report of a completed job.")
    error: str | None = Field(description="Why it failed.")
    lease_owner: str | None
    lease_expires_at: str | None
    pause_requested: bool
    cancel_requested: bool


class LogEntryOut(Schema):
    at: str
    event: Literal[
        "created",
        "claimed",
        "pause_requested",
        "paused",
        "resumed",
        "cancel_requested",
        "cancelled",
        "requeued",
        "completed",
        "failed",
        "retried",
    ]
    from_: str | None = Field(alias="from", description="Status before; null at the creation.")
    to: str = Field(description="Status after.")
    worker: str | None = Field(description="The worker that held the job, or took it.")
    reason: str | None


class ControlOut(Schema):
    status: Literal["pause_requested", "resumed", "cancel_requested", "force_cancelled", "retried"]


class CommonIn(Body):
    """What every submission may say."""

    requested_by: str | None = Field(None, description="The channel recorded with the job; default http.")


@dataclass(frozen=True, slots=True)
class Submission:
    """A request to queue a job, its fields read as its kind wants them."""

    kind: kinds.JobKind
    fields: Body
    requested_by: str | None

    @classmethod
    def read(cls, value: Any) -> Submission:
        """Reads the JSON of a submission. Raises pydantic's errors."""
        if not isinstance(value, dict):
            raise PydanticCustomError("submission", "it must be a JSON object")
        type_ = value.get("type")
        kind = kinds.find(type_) if isinstance(type_, str) else None
        if kind is None:
            known = ", ".join(kind.type for kind in kinds.registered())
            raise PydanticCustomError("submission_type", "type must be one of {known}", {"known": known})
        return cls(kind, kind.request.model_validate(value), CommonIn.model_validate(value).requested_by)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # Kinds are registered after this module is imported, so they are looked up when a submission is read.
        return core_schema.no_info_plain_validator_function(cls.read)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"oneOf": [_described(kind, handler) for kind in kinds.registered()]}


def _described(kind: kinds.JobKind, handler: GetJsonSchemaHandler) -> dict[str, Any]:
    fields = handler(kind.request.__pydantic_core_schema__)
    common = handler(CommonIn.__pydantic_core_schema__)
    tag = {"type": "object", "properties": {"type": {"const": kind.type}}, "required": ["type"]}
    return {"title": kind.type, "allOf": [tag, fields, common]}


@router.get("/jobs", response=list[JobOut])
async def list_jobs(
    request: HttpRequest,
    status: Annotated[str | None, Query(description="One status.")] = None,
    kind: Annotated[str | None, Query(description="One kind; an unknown one gives an empty page.")] = None,
    limit: Annotated[Limit, Query()] = None,
    before: Annotated[str | None, Query(description="Id of a job; only older ones. The last of a page gives the next.")] = None,
) -> list[dict[str, Any]]:
    """Jobs, newest first: all of them, or with `kind`, `limit` or `before` a page (default 50, at most 200)."""
    found = await services.list_jobs(caller(request), status=status, kind=kind, limit=limit, before=before)
    return [job_json(job) for job in found]


@router.post("/jobs", response=JobOut)
async def submit_job(request: HttpRequest, body: Annotated[Submission, BodyParam()]) -> dict[str, Any]:
    """Queues a job; `type` names its kind."""
    asking = caller(request, body.requested_by)
    return job_json(await body.kind.submit(body.fields, asking))


@router.get("/jobs/{job_id}", response=JobOut)
async def get_job(request: HttpRequest, job_id: JobId) -> dict[str, Any]:
    """One job with its parameters, progress and result."""
    return job_json(await services.get_job(caller(request), job_id))


@router.get("/jobs/{job_id}/log", response=list[LogEntryOut], by_alias=True)
async def get_job_log(request: HttpRequest, job_id: JobId) -> list[dict[str, Any]]:
    """What happened to a job, oldest first: every change of its status, every request to stop it, who held it and why."""
    return [entry.as_json() for entry in await services.job_log(caller(request), job_id)]


@router.post("/jobs/{job_id}/pause", response=ControlOut)
async def pause_job(request: HttpRequest, job_id: JobId) -> dict[str, str]:
    """Asks a running job to stop at its next boundary and wait to be resumed."""
    await services.pause(job_id)
    return {"status": "pause_requested"}


@router.post("/jobs/{job_id}/resume", response=ControlOut)
async def resume_job(request: HttpRequest, job_id: JobId) -> dict[str, str]:
    """Puts a paused job back into the queue, with its checkpoint."""
    await services.resume(job_id)
    return {"status": "resumed"}


@router.post("/jobs/{job_id}/cancel", response=ControlOut)
async def cancel_job(request: HttpRequest, job_id: JobId) -> dict[str, str]:
    """Gives a job up: a waiting one at once, a running one at its next boundary."""
    await services.cancel(job_id)
    return {"status": "cancel_requested"}


@router.post("/jobs/{job_id}/force-cancel", response=ControlOut)
async def force_cancel_job(request: HttpRequest, job_id: JobId) -> dict[str, str]:
    """Cancels a running mine that does not reach its next boundary; answers once its work is stopped."""
    await services.force_cancel(job_id)
    return {"status": "force_cancelled"}


@router.post("/jobs/{job_id}/retry", response=ControlOut)
async def retry_job(request: HttpRequest, job_id: JobId) -> dict[str, str]:
    """Puts a failed job back into the queue; it continues from its checkpoint."""
    await services.retry(job_id)
    return {"status": "retried"}
