"""The REST API: the routers of all apps behind one set of error handlers, and the routes of the daemon itself."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI, Router, Schema
from ninja.errors import HttpError, ValidationError

from jobs.api import router as jobs_router
from memcastle_site import __version__, services
from memcastle_site.api_docs import PlainDocs
from memcastle_site.errors import ServerFailed
from memcastle_site.http import error_response
from mining.api import router as mining_router
from palace.api import router as palace_router
from palace.errors import InvalidInput, MemCastleError
from palace.http import MODE_HEADER, Body, StrictParser, json_body
from palace.modes import parse_mode
from search.api import router as search_router

logger = logging.getLogger("memcastle.api")

DESCRIPTION = (
    "The REST interface of a MemCastle daemon. Every refusal has the same body: error says what failed, code is "
    "stable and made to be matched on, help says what to do."
)

api = NinjaAPI(
    title="MemCastle",
    version=__version__,
    description=DESCRIPTION,
    parser=StrictParser(),
    docs=PlainDocs(),
    docs_url="/docs",
    openapi_url="/openapi.json",
    urls_namespace="api",
)
site_router = Router(tags=["daemon"])


@api.exception_handler(MemCastleError)
def refuse(request: HttpRequest, error: MemCastleError) -> HttpResponse:
    """A typed error is its own answer."""
    return error_response(error)


@api.exception_handler(ValidationError)
def refuse_shape(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """A body, query or header of the wrong shape is blamed on the part it stands in, with the parser's own words."""
    problems = []
    blamed = "body"
    for problem in error.errors:
        where = [str(step) for step in problem["loc"]]
        blamed = "query" if where[0] == "query" else "body"
        place = ".".join(step for step in where[1:] if step != "body")
        times = len(request.GET.getlist(place)) if blamed == "query" else 1
        reason = f"it is given {times} times" if times > 1 else str(problem["msg"])
        problems.append(f"{place}: {reason}" if place else reason)
    return error_response(InvalidInput(blamed, "; ".join(problems)))


@api.exception_handler(HttpError)
def refuse_request(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Ninja wraps what our parser raised; everything else it refuses concerns the body."""
    cause = error.__cause__
    return error_response(cause if isinstance(cause, MemCastleError) else InvalidInput("body", str(error)))


@api.exception_handler(TooManyFieldsSent)
def refuse_crowd(request: HttpRequest, error: TooManyFieldsSent) -> HttpResponse:
    """Django reads query strings up to a number of parameters."""
    return error_response(InvalidInput("query", f"it has more than {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS} parameters"))


@api.exception_handler(Exception)
def fail(request: HttpRequest, error: Exception) -> HttpResponse:
    """A fault of ours: the traceback goes to the log, the answer names no internals."""
    logger.error("request failed", exc_info=error)
    return error_response(ServerFailed("the daemon failed to answer this request"))


class Health(Schema):
    status: str


class Revoked(Schema):
    revoked: bool


class DatabaseOpening(Body):
    bind: str | None = None
    port: int | None = None
    allow_remote: bool | None = None
    allowed_origins: list[str] | None = None


class DatabaseStatus(Schema):
    running: bool
    addr: str | None
    url: str | None
    namespace: str
    database: str
    user: str
    remote: bool
    auth_required: bool
    started_at: str | None
    already_running: bool


class Token(Schema):
    token: str
    algorithm: str
    version: int
    created_at: str


@site_router.get("/health", response=Health)
async def health(request: HttpRequest) -> dict[str, str]:
    """Answers while the process lives; touches no store. Needs no token."""
    return {"status": "ok"}


@site_router.get("/status", response=dict[str, Any])
async def status(request: HttpRequest) -> dict[str, Any]:
    """Version, counts and the state of the datastore; 200 even when the datastore is down."""
    mode = parse_mode(request.headers.get(MODE_HEADER), MODE_HEADER.lower())
    return await services.status(mode)


@site_router.get("/config", response=dict[str, Any])
async def config(request: HttpRequest) -> dict[str, Any]:
    """The configuration in force, without any secret."""
    return services.config_report()


@site_router.post("/shutdown", response=Health)
async def shutdown(request: HttpRequest) -> dict[str, str]:
    """Stops the daemon gracefully: running jobs are put back with their checkpoint."""
    services.request_shutdown()
    return {"status": "shutting_down"}


@site_router.post("/auth/token", response=Token)
async def generate_token(request: HttpRequest, response: HttpResponse) -> dict[str, Any]:
    """Makes a new token, shown this once, and replaces the one before."""
    response["Cache-Control"] = "no-store"
    return await services.generate_token()


@site_router.delete("/auth/token", response=Revoked)
async def revoke_token(request: HttpRequest) -> dict[str, bool]:
    """Forgets the generated token; a token from the configuration stays valid."""
    return {"revoked": await services.revoke_token()}


@site_router.get("/db", response=DatabaseStatus)
async def database_status(request: HttpRequest) -> dict[str, Any]:
    """Whether the database endpoint is open, and where."""
    return services.database_status()


@site_router.post("/db", response=DatabaseStatus)
async def open_database(request: HttpRequest, body: DatabaseOpening | None = None) -> dict[str, Any]:
    """Opens the database endpoint; what is left out comes from the configuration."""
    if request.body:
        # What is no object would otherwise pass for no body.
        json_body(request)
    asked = body or DatabaseOpening()
    return await services.open_database(
        services.Opening(asked.bind, asked.port, asked.allow_remote, asked.allowed_origins or ())
    )


@site_router.delete("/db", response=DatabaseStatus)
async def close_database(request: HttpRequest) -> dict[str, Any]:
    """Closes the database endpoint and its connections; succeeds when it is not open."""
    return await services.close_database()


api.add_router("", site_router)
api.add_router("", palace_router)
api.add_router("", jobs_router)
api.add_router("", search_router)
api.add_router("", mining_router)
