"""The dashboard's pages that concern the whole daemon."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from memcastle_site import services
from memcastle_site.conf import WebConfig
from memcastle_site.console.excerpt import excerpt
from memcastle_site.errors import RouteNotFound
from memcastle_site.http import error_response
from palace.configuration import current as configured
from palace.domain.modes import Caller
from palace.errors import MemCastleError
from search.domain.query import SearchQuery, query_from_text
from search.services import SearchHit, search

CALLER = Caller(requested_by="web")
EXCERPT_COLUMNS = 110


async def overview(request: HttpRequest) -> HttpResponse:
    """The state of the palace, its wings, its latest jobs, and a search."""
    if not configured(WebConfig).enable:
        return error_response(
            RouteNotFound("the dashboard is switched off", help="Set web.enable = true and restart the daemon.")
        )
    asked = request.GET.get("q", "").strip()
    wing = request.GET.get("wing", "").strip()
    page: dict[str, Any] = {"q": asked, "wing": wing, "hits": [], "searched": bool(asked), "refusal": None}
    if asked:
        try:
            found = await search(CALLER, _query(asked, wing))
            page["hits"] = [_shown(hit, asked) for hit in found]
        except MemCastleError as error:
            page["refusal"] = error
    seen = await services.overview(CALLER)
    page |= {"status": seen.status, "wings": seen.wings, "jobs": seen.jobs}
    return render(request, "memcastle_site/overview.html", page)


def _query(asked: str, wing: str) -> SearchQuery:
    return query_from_text(q=asked, wing=wing or None)


def _shown(hit: SearchHit, asked: str) -> dict[str, Any]:
    origin = hit.drawer.source.origin
    part = f"{origin.document}, part {origin.chunk + 1}" if origin is not None else hit.drawer.id
    return {
        "hit": hit,
        "title": hit.drawer.name or part,
        "lines": excerpt(hit.drawer.content, asked, EXCERPT_COLUMNS),
        "characters": len(hit.drawer.content),
    }
