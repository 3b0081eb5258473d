"""REST routes of search."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import Field

from palace.errors import InvalidInput
from palace.http import Flag, Limit, caller, json_body
from palace.schemas import DrawerOut
from search import services
from search.domain.query import query_from_body, query_from_text

router = Router(tags=["search"])


class SearchHitOut(DrawerOut):
    wing_name: str
    room_name: str
    score: float = Field(description="Comparable only within one answer.")
    signals: dict[str, float] | None = Field(None, description="What made the score; absent when nothing did.")


SEARCH_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "default": ""},
                        "ranking": {"enum": ["auto", "lexical", "semantic", "hybrid"], "default": "auto"},
                        "limit": {"type": "integer", "minimum": 0, "default": 0},
                        "filter": {
                            "type": "object",
                            "properties": {
                                "wing": {"type": ["string", "null"]},
                                "room": {"type": ["string", "null"]},
                                "tags": {"type": "array", "items": {"type": "string"}},
                                "source_kind": {"type": ["string", "null"]},
                                "temporal": {"description": "current, all, {as_of} or {between: {from, until}}"},
                                "learned_before": {"type": ["string", "null"]},
                            },
                        },
                        "expand": {"type": "boolean", "default": False},
                        "query_embedding": {"type": ["array", "null"], "items": {"type": "number"}},
                    },
                }
            }
        },
    }
}


@router.get("/search", response=list[SearchHitOut], exclude_unset=True)
async def search(
    request: HttpRequest,
    q: Annotated[str | None, Query(description="The words to find; alias: query.")] = None,
    query: Annotated[str | None, Query(include_in_schema=False)] = None,
    limit: Annotated[Limit, Query(description="Default 10, at most 200.")] = None,
    wing: Annotated[str | None, Query(description="Name of the wing.")] = None,
    room: Annotated[str | None, Query(description="Name of the room, in any wing.")] = None,
    ranking: Annotated[str | None, Query(description="auto, lexical, semantic or hybrid.")] = None,
    tags: Annotated[str | None, Query(description="Comma-separated; a drawer must carry all. Alias: tag.")] = None,
    tag: Annotated[str | None, Query(include_in_schema=False)] = None,
    source_kind: Annotated[str | None, Query(description="file, manual, transcript, note or other.")] = None,
    as_of: Annotated[str | None, Query(description="What held at this instant.")] = None,
    from_: Annotated[str | None, Query(alias="from", description="What held at some time in [from, until).")] = None,
    until: Annotated[str | None, Query()] = None,
    include_historical: Annotated[Flag | None, Query(description="No time filter.")] = None,
    learned_before: Annotated[str | None, Query(description="What the palace knew before this instant.")] = None,
    expand: Annotated[Flag | None, Query(description="Append drawers related through the graph.")] = None,
) -> list[dict[str, Any]]:
    """The best drawers for these words, best first."""
    asking = caller(request)
    text = _either("q", q, "query", query)
    if text is None:
        raise InvalidInput("query", "the parameter q is missing; write /api/search?q=WORDS")
    hits = await services.search(
        asking,
        query_from_text(
            q=text,
            limit=limit,
            wing=wing,
            room=room,
            ranking=ranking,
            tags=_either("tags", tags, "tag", tag) or (),
            source_kind=source_kind,
            as_of=as_of,
            from_=from_,
            until=until,
            include_historical=include_historical == "true",
            learned_before=learned_before,
            expand=expand == "true",
        ),
    )
    return [hit.as_json() for hit in hits]


@router.post("/search", response=list[SearchHitOut], exclude_unset=True, openapi_extra=SEARCH_BODY)
async def search_body(request: HttpRequest) -> list[dict[str, Any]]:
    """The same search with its query as a JSON object."""
    asking = caller(request)
    hits = await services.search(asking, query_from_body(json_body(request)))
    return [hit.as_json() for hit in hits]


def _either(name: str, value: str | None, alias: str, other: str | None) -> str | None:
    if value is not None and other is not None:
        raise InvalidInput("query", f"{name} and its alias {alias} are given together")
    return value if value is not None else other
