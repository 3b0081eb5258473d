"""REST of mining: the body of a mine job, and the list of sources."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from mining import services
from palace.http import Body, caller

router = Router(tags=["sources"])


class MineIn(Body):
    """A mine job: either `path`, or `source` with its `locator`."""

    path: str | None = Field(None, description="Absolute path of a directory on the daemon's machine.")
    source: str | None = Field(None, description="Name of a source.")
    locator: str | None = Field(None, description="What the source is to read; its meaning is the source's.")
    wing: str | None = Field(None, description="Wing to file into; the source's own default without it.")
    full: bool = Field(False, description="Read from the beginning; unchanged documents are still skipped.")
    options: dict[str, str] = Field(default_factory=dict, description="Options the source declares.")

    def wish(self) -> services.MineRequest:
        return services.MineRequest(self.path, self.source, self.locator, self.wing, self.full, self.options)


class SourcesOut(Schema):
    adapters: list[dict[str, Any]]
    sources: list[dict[str, Any]]


@router.get("/sources", response=SourcesOut)
async def list_sources(request: HttpRequest) -> dict[str, Any]:
    """The sources that exist, and every place that was mined."""
    return await services.list_sources(caller(request))
