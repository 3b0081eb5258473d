"""Every address the daemon answers."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from memcastle_site import error_pages
from memcastle_site.api import api
from memcastle_site.static_files import static_file
from memcastle_site.views import overview

urlpatterns = [
    path("static/<path:path>", static_file),
    path("api/", api.urls),
    path("ui/", overview, name="overview"),
    path("ui", RedirectView.as_view(pattern_name="overview")),
    path("", RedirectView.as_view(pattern_name="overview")),
]
handler400 = error_pages.refused
handler404 = error_pages.not_found
handler500 = error_pages.failed
