"""The dashboard's pages that concern the whole daemon."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from memcastle_site import services
from memcastle_site.conf import WebConfig
from memcastle_site.errors import RouteNotFound
from memcastle_site.http import error_response
from palace.configuration import current as configured
from palace.domain.modes import Caller
from palace.errors import MemCastleError
from search.domain.query import query_from_text
from search.services import SearchHit, search

CALLER = Caller(requested_by="web")
EXCERPT_CHARACTERS = 320


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
            page["hits"] = [_shown(hit) for hit in found]
        except MemCastleError as error:
            page["refusal"] = error
    seen = await services.overview(CALLER)
    page |= {"status": seen.status, "wings": seen.wings, "jobs": seen.jobs}
    return render(request, "memcastle_site/overview.html", page)


def _query(asked: str, wing: str) -> Any:
    return query_from_text(
        q=asked,
        limit=None,
        wing=wing or None,
        room=None,
        ranking=None,
        tags=(),
        source_kind=None,
        as_of=None,
        from_=None,
        until=None,
        include_historical=False,
        expand=False,
    )


def _shown(hit: SearchHit) -> dict[str, Any]:
    content = hit.drawer.content
    cut = len(content) > EXCERPT_CHARACTERS
    origin = hit.drawer.source.origin
    part = f"{origin.document}, part {origin.chunk + 1}" if origin is not None else hit.drawer.id
    return {
        "hit": hit,
        "title": hit.drawer.name or part,
        "excerpt": content[:EXCERPT_CHARACTERS] + ("…" if cut else ""),
        "more": len(content) - EXCERPT_CHARACTERS if cut else 0,
    }


def not_found_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What an unknown address outside the API gets. Django calls error handlers in a thread, so this one waits for nothing."""
    return render(request, "memcastle_site/not_found.html", status=404)
