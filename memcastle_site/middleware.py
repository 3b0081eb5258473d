"""Django middleware, asynchronous so that no request pays for a thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from memcastle_site.errors import MethodNotAllowed
from memcastle_site.http import error_response

Next = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


class ApiAnswers:
    """Gives framework answers under `/api` (a wrong method) the same error body as every other refusal."""

    async_capable = True
    sync_capable = False

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = await self.get_response(request)
        if response.status_code == 405 and request.path.startswith("/api"):
            allowed = response.headers.get("Allow", "")
            refusal: HttpResponse = error_response(
                MethodNotAllowed(f"{request.method} is not a method of {request.path}; it takes {allowed or 'none'}")
            )
            if allowed:
                refusal["Allow"] = allowed
            return refusal
        return response
