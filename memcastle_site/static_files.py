"""Serves the files under `static/`: WhiteNoise finds them and makes their headers, an asynchronous view answers.

WhiteNoise's own middleware is synchronous and would cost every API request a change of thread.
"""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from whitenoise import WhiteNoise

from memcastle_site.errors import RouteNotFound
from memcastle_site.http import error_response

MAX_AGE_SECONDS = 3600


@cache
def _files() -> WhiteNoise:
    return WhiteNoise(None, root=str(settings.BASE_DIR / "static"), prefix=settings.STATIC_URL, max_age=MAX_AGE_SECONDS)


async def static_file(request: HttpRequest, path: str) -> HttpResponse:
    """A file of the dashboard, with conditional and range requests."""
    found = _files().files.get(request.path_info)
    if found is None:
        return error_response(RouteNotFound(f"there is no file {request.path}"))
    answer = found.get_response(request.method, request.META)
    content = b""
    if answer.file is not None:
        with answer.file as file:
            content = file.read()
    response = HttpResponse(content, status=int(answer.status))
    for name, value in answer.headers:
        response[name] = value
    return response
