"""The page at `/api/docs`: the OpenAPI description as plain HTML, with no script and nothing from another host."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase


class PlainDocs(DocsBase):
    """Lists every operation with its parameters and body fields."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        schema = api.get_openapi_schema()
        groups: dict[str, list[dict[str, Any]]] = {}
        for path, methods in schema["paths"].items():
            for method, operation in methods.items():
                described = _described(path, method, operation, schema["components"].get("schemas", {}))
                groups.setdefault(operation.get("tags", ["other"])[0], []).append(described)
        page = {"description": schema["info"]["description"], "version": schema["info"]["version"], "groups": groups}
        return render(request, "memcastle_site/api_docs.html", page)


def _described(path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    return {
        "method": method.upper(),
        "path": path,
        "description": operation.get("description") or operation.get("summary", ""),
        "parameters": [
            {
                "name": parameter["name"],
                "place": parameter["in"],
                "required": parameter.get("required", False),
                "description": parameter.get("description") or parameter.get("schema", {}).get("description", ""),
            }
            for parameter in operation.get("parameters", ())
        ],
        "fields": _fields(operation, schemas),
        "answers": sorted(str(status) for status in operation.get("responses", {})),
    }


def _fields(operation: dict[str, Any], schemas: dict[str, Any]) -> list[dict[str, Any]]:
    """The top-level fields of the JSON body."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    while "$ref" in body:
        body = schemas[body["$ref"].rpartition("/")[2]]
    required = body.get("required", ())
    return [
        {"name": name, "required": name in required, "description": field.get("description", "")}
        for name, field in body.get("properties", {}).items()
    ]
