"""When the fault is the daemon's own: the answer has a code and a request id, and tells nothing of the inside."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient, Client, override_settings

from memcastle_site import services
from memcastle_site.api import api
from memcastle_site.conf import AuthConfig
from memcastle_site.daemon import state
from palace import services as palace_services
from palace import store
from palace.clock import now
from palace.configuration import overridden
from palace.domain.modes import Caller, MemoryMode
from palace.errors import SerializationFailed, StoreFailed, StoreMalformed
from palace.store import Store

UNTOLD = "the inside of the daemon"


@pytest.fixture(autouse=True)
def routes() -> Any:
    with override_settings(ROOT_URLCONF="memcastle_site.urls"):
        yield


@pytest.fixture
async def in_daemon(palace: Store, tmp_path: Path) -> AsyncIterator[Store]:
    """The palace, in a process that takes itself for a daemon."""
    state.install(state.DaemonState(1, now(), "127.0.0.1:1", tmp_path, lambda: None))
    with overridden(AuthConfig()):
        yield palace
    state.install(None)


async def get(target: str) -> tuple[int, Any]:
    response = await AsyncClient(raise_request_exception=False).get(target)
    assert response.headers["content-type"].partition(";")[0] == "application/json"
    return response.status_code, json.loads(response.content)


def failing(error: Exception) -> Any:
    async def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreFailed("the database failed"), "store::backend_failed"),
        (StoreMalformed("a row makes no sense"), "store::malformed"),
        (SerializationFailed("a value is no JSON"), "serialization::failed"),
        (ZeroDivisionError(UNTOLD), "server::failed"),
        (RecursionError(UNTOLD), "server::failed"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_service_that_fails(monkeypatch: pytest.MonkeyPatch, error: Exception, code: str) -> None:
    monkeypatch.setattr(palace_services, "list_wings", failing(error))
    status, body = await get("/api/wings")
    assert (status, body["code"]) == (500, f"memcastle::{code}")
    assert set(body) == {"error", "code", "help"}
    assert all(body.values())
    assert UNTOLD not in str(body)


async def test_an_answer_that_is_not_what_the_route_describes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nonsense(*_: Any) -> list[Any]:
        return [{UNTOLD: 1}]

    monkeypatch.setattr(palace_services, "list_wings", nonsense)
    status, body = await get("/api/wings")
    assert (status, body["code"]) == (500, "memcastle::server::failed")
    assert UNTOLD not in str(body)


@pytest.mark.parametrize("target", ["/api/openapi.json", "/api/docs"])
def test_a_view_outside_the_routes_that_fails(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError(UNTOLD)

    monkeypatch.setattr(api, "get_openapi_schema", fail)
    response = Client(raise_request_exception=False).get(target)
    body = json.loads(response.content)
    assert (response.status_code, body["code"]) == (500, "memcastle::server::failed")
    assert UNTOLD not in str(body)


async def test_status_is_answered_when_the_datastore_is_not(in_daemon: Store) -> None:
    await palace_services.create_drawer(Caller(), "w", "r", "text")
    status, before = await get("/api/status")
    assert (status, before["datastore"]["ok"], before["drawer_count"]) == (200, True, 1)
    await in_daemon.close()
    status, after = await get("/api/status")
    assert status == 200
    assert after["datastore"]["ok"] is False
    assert after["datastore"]["error"]
    assert (after["datastore"]["backend"], after["datastore"]["location"]) == ("embedded", in_daemon.location)
    assert (after["drawer_count"], after["jobs_queued"], after["jobs_running"], after["jobs_paused"]) == (0, 0, 0, 0)
    assert after["palace_name"] == "default"
    assert set(after) == set(before)
    assert set(after["datastore"]) == set(before["datastore"])
    assert await get("/api/health") == (200, {"status": "ok"})
    for target in ("/api/wings", "/api/jobs", "/api/search?q=a"):
        status, body = await get(target)
        assert (status, body["code"]) == (500, "memcastle::store::backend_failed")


async def test_status_is_answered_when_no_palace_is_open(in_daemon: Store) -> None:
    store.install(None)
    found = await services.status(MemoryMode.FULL)
    assert (found["datastore"]["ok"], found["datastore"]["backend"]) == (False, "")
