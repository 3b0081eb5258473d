"""Every address the daemon answers."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.generic import RedirectView

from memcastle_site.api import api
from memcastle_site.errors import RouteNotFound
from memcastle_site.http import error_response
from memcastle_site.static_files import static_file
from memcastle_site.views import not_found_page, overview


async def unknown_route(request: HttpRequest) -> HttpResponse:
    """A path under `/api` that no route has."""
    return error_response(RouteNotFound(f"no route has the path {request.path}"))


urlpatterns = [
    path("static/<path:path>", static_file),
    # Ninja answers its own root with Django's page for what does not exist.
    path("api/", unknown_route),
    path("api/", api.urls),
    re_path(r"^api(?:/.*)?$", unknown_route),
    path("ui/", overview, name="overview"),
    path("ui", RedirectView.as_view(pattern_name="overview")),
    path("", RedirectView.as_view(pattern_name="overview")),
]
handler404 = not_found_page
