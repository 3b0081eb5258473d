"""What the REST routers of all apps share: who asks, how a body and a query string are read.

Every shape problem becomes InvalidInput on `body` or `query`; the error handlers of the API turn errors into answers.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja import Field, Schema
from ninja.parser import Parser
from pydantic import ConfigDict

from palace.domain.modes import Caller
from palace.errors import InvalidInput
from palace.modes import parse_mode

MODE_HEADER = "X-MemCastle-Mode"
MAX_BODY_BYTES = 2 * 1024 * 1024


class Body(Schema):
    """Base of request bodies: no coercion of types, unknown fields ignored."""

    model_config = ConfigDict(strict=True)


Limit = Annotated[int, Field(ge=0, le=2**32 - 1)] | None
"""A listing's `limit`: absent or 0 is the default, a large one is capped by the service."""

Flag = Literal["true", "false"]
"""A boolean of a query string."""


def caller(request: HttpRequest, requested_by: str | None = None) -> Caller:
    """Who asks: the mode of the header (400 when unknown) and the channel, `http` unless the body names another."""
    return Caller(parse_mode(request.headers.get(MODE_HEADER), MODE_HEADER.lower()), requested_by or "http")


def json_body(request: HttpRequest) -> dict[str, Any]:
    """The JSON object of a body. Raises InvalidInput on `body` for everything else."""
    value = _json(request)
    if not isinstance(value, dict):
        raise InvalidInput("body", "it must be a JSON object")
    return value


def _json(request: HttpRequest) -> Any:
    if len(request.body) > MAX_BODY_BYTES:
        raise InvalidInput("body", f"it is larger than {MAX_BODY_BYTES} bytes")
    if request.content_type != "application/json":
        raise InvalidInput("body", "the header 'Content-Type: application/json' is missing")
    try:
        value = json.loads(request.body.decode("utf-8"), parse_constant=_no_constant)
        # A lone surrogate is legal JSON and no text: it could be neither stored nor answered.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise InvalidInput("body", "it is nested too deeply") from None
    except ValueError as error:
        raise InvalidInput("body", f"it is no JSON text ({error})") from None
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class StrictParser(Parser):
    """Ninja's parser with our rules: JSON objects only, no parameter twice."""

    def parse_body(self, request: HttpRequest) -> Any:
        return json_body(request)

    def parse_querydict(self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest) -> dict[str, Any]:
        parsed: dict[str, Any] = super().parse_querydict(data, list_fields, request)
        # A list is neither text nor number, so a parameter that a route knows is refused; others stay ignored.
        return parsed | {name: values for name, values in data.lists() if len(values) > 1}
