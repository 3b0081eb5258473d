"""The ASGI application: the gate in front of Django."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import django
from django.core.handlers.asgi import ASGIHandler

from memcastle_site.conf import AuthConfig, ServerConfig
from memcastle_site.errors import MethodNotAllowed
from memcastle_site.events import EVENTS_PATH, EventStream
from memcastle_site.gate import Gate
from memcastle_site.gate.layer import Application
from memcastle_site.services import authenticate
from palace.configuration import current as configured


class OneThreadHandler(ASGIHandler):
    """Django's handler without a thread pool of its own for every request.

    All our views are asynchronous; the little that Django still does in threads shares one.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"Django answers http requests only, not {scope['type']}")
        await self.handle(scope, receive, send)


class Routes:
    """Sends GET requests of some paths to applications of their own, and everything else to another one."""

    def __init__(self, own: Mapping[str, Application], others: Application) -> None:
        self._own = own
        self._others = others

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path, method = scope["path"], scope["method"]
        if path in self._own and method != "GET":
            raise MethodNotAllowed(f"{method} is not a method of {path}; it takes GET", allowed=("GET",))
        await self._own.get(path, self._others)(scope, receive, send)


def application(stopping: Callable[[], bool]) -> Gate:
    """The whole application under the configuration in force; `stopping` tells when the daemon drains."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcastle_site.settings")
    django.setup(set_prefix=False)
    server = configured(ServerConfig)
    return Gate(
        Routes({EVENTS_PATH: EventStream.as_asgi()}, OneThreadHandler()),
        allowed_hosts=server.allowed_hosts,
        allowed_origins=server.allowed_origins,
        authenticate=authenticate if configured(AuthConfig).enabled else None,
        stopping=stopping,
    )
