"""What Django answers when no view does: the usual body under `/api`, a page elsewhere.

Django calls these in a thread, so they wait for nothing.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from memcastle_site.errors import RouteNotFound, ServerFailed
from memcastle_site.http import error_response
from palace.errors import InvalidInput


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A request that Django takes for an attack: too many parameters, a broken form."""
    if _is_api(request):
        return error_response(InvalidInput("request", str(exception) or "it is not accepted"))
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """An address that nothing has."""
    if _is_api(request):
        return error_response(RouteNotFound(f"no route has the path {request.path}"))
    return render(request, "memcastle_site/not_found.html", status=404)


def failed(request: HttpRequest) -> HttpResponse:
    """A view that failed; Django has logged why."""
    if _is_api(request):
        return error_response(ServerFailed("the daemon failed to answer this request"))
    return defaults.server_error(request)


def _is_api(request: HttpRequest) -> bool:
    return request.path == "/api" or request.path.startswith("/api/")
