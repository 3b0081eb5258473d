from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient, override_settings

from jobs import kinds
from jobs.domain.job import Priority, Status
from palace.store import Store
from tests.jobs.support import StartScheduler, job, left_running, settled, submit

UNKNOWN = "8d8ac610-566d-4ef0-9c22-186b2a5ed793"


@pytest.fixture(autouse=True)
def routes() -> Any:
    with override_settings(ROOT_URLCONF="memcastle_site.urls"):
        yield


class Rest:
    """Requests to the routes, answered in this process."""

    def __init__(self) -> None:
        self._client = AsyncClient()

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        response = await self._client.get(f"/api{path}", headers=headers)
        return response.status_code, json.loads(response.content)

    async def post(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        content = body if isinstance(body, str) else json.dumps(body)
        response = await self._client.post(
            f"/api{path}", content if body is not None else "", content_type="application/json", headers=headers
        )
        return response.status_code, json.loads(response.content)


@pytest.fixture
def rest() -> Rest:
    return Rest()


async def test_a_submitted_job_is_answered_as_it_is_stored(palace: Store, rest: Rest) -> None:
    status, answer = await rest.post("/jobs", {"type": "demo", "steps": 3, "requested_by": "cli", "extra": 1})
    assert status == 200
    assert answer["kind"] == {"type": "demo", "steps": 3}
    assert (answer["status"], answer["priority"], answer["requested_by"]) == ("queued", 50, "cli")
    assert answer["progress"] == {"current": 0, "total": None, "message": None}
    assert (answer["checkpoint"], answer["result"], answer["max_attempts"]) == ({}, None, 3)
    assert await rest.get(f"/jobs/{answer['id']}") == (200, answer)
    assert await rest.get("/jobs") == (200, [answer])


async def test_an_audit_keeps_its_empty_scope(palace: Store, rest: Rest) -> None:
    for body in ({"type": "audit"}, {"type": "audit", "wing": None}):
        _, answer = await rest.post("/jobs", body)
        assert answer["kind"] == {"type": "audit", "wing": None}
        assert answer["requested_by"] == "http"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "type must be one of demo, audit"),
        ({"type": "unheard of"}, "type must be one of demo, audit"),
        ({"type": 3}, "type must be one of demo, audit"),
        ({"type": "demo"}, "steps"),
        ({"type": "demo", "steps": "3"}, "integer"),
        ({"type": "demo", "steps": -1}, "greater"),
        ({"type": "demo", "steps": 2**32}, "less"),
        ({"type": "demo", "steps": True}, "integer"),
        ({"type": "audit", "wing": 3}, "wing"),
        ({"type": "demo", "steps": 1, "requested_by": 3}, "requested_by"),
        ([], "object"),
        ("{", "JSON"),
    ],
    ids=repr,
)
async def test_a_body_of_the_wrong_shape_is_blamed_and_queues_nothing(palace: Store, rest: Rest, body: Any, words: str) -> None:
    status, answer = await rest.post("/jobs", body)
    assert (status, answer["code"]) == (400, "memcastle::input::invalid")
    assert answer["error"].startswith("body: ")
    assert words in answer["error"]
    assert answer["help"]
    assert await rest.get("/jobs") == (200, [])


async def test_the_mode_header_is_read_for_every_kind_and_gates_only_reads_here(palace: Store, rest: Rest) -> None:
    status, answer = await rest.post("/jobs", {"type": "demo", "steps": 1}, **{"X-MemCastle-Mode": "off"})
    assert (status, answer["error"][:16]) == (400, "x-memcastle-mode")
    disabled = {"X-MemCastle-Mode": "disabled"}
    status, submitted = await rest.post("/jobs", {"type": "demo", "steps": 1}, **disabled)
    assert status == 200
    for path in ("/jobs", f"/jobs/{submitted['id']}", f"/jobs/{UNKNOWN}"):
        status, answer = await rest.get(path, **disabled)
        assert (status, answer["code"]) == (403, "memcastle::mode::forbidden")
    status, answer = await rest.get("/jobs/nonsense", **disabled)
    assert (status, answer["code"]) == (400, "memcastle::jobs::id_invalid")


@pytest.mark.parametrize(
    ("query", "blamed"),
    [("status=done", "status"), ("limit=x", "query"), ("limit=-1", "query"), ("limit=1&limit=2", "query")],
)
async def test_a_bad_query_is_blamed(palace: Store, rest: Rest, query: str, blamed: str) -> None:
    status, answer = await rest.get(f"/jobs?{query}")
    assert (status, answer["code"]) == (400, "memcastle::input::invalid")
    assert answer["error"].startswith(f"{blamed}: ")


async def test_a_page_of_one_kind(palace: Store, rest: Rest) -> None:
    await submit("demo", {"steps": 1})
    newest = await submit("demo", {"steps": 2})
    _, answer = await rest.get("/jobs?kind=demo&limit=1&status=queued&unknown=1")
    assert [found["id"] for found in answer] == [newest.id]


async def test_controls_answer_what_they_did(palace: Store, rest: Rest) -> None:
    queued = await submit("demo", {"steps": 1})
    assert await rest.post(f"/jobs/{queued.id}/cancel") == (200, {"status": "cancel_requested"})
    paused = await left_running(status="paused", lease_owner=None)
    assert await rest.post(f"/jobs/{paused.id}/resume") == (200, {"status": "resumed"})
    failed = await left_running(status="failed", lease_owner=None)
    assert await rest.post(f"/jobs/{failed.id}/retry", **{"X-MemCastle-Mode": "bogus"}) == (200, {"status": "retried"})
    assert (await job(failed.id)).status is Status.QUEUED


async def test_a_running_job_is_paused(start_scheduler: StartScheduler, rest: Rest) -> None:
    await start_scheduler()
    _, answer = await rest.post("/jobs", {"type": "demo", "steps": 1000})
    await settled(answer["id"], Status.RUNNING)
    assert await rest.post(f"/jobs/{answer['id']}/pause") == (200, {"status": "pause_requested"})
    assert (await settled(answer["id"])).status is Status.PAUSED


@pytest.mark.parametrize("control", ["pause", "resume", "cancel", "retry"])
async def test_controls_refuse_by_code(palace: Store, rest: Rest, control: str) -> None:
    done = await left_running(status="completed", lease_owner=None)
    orphan = await left_running(expires_in=-1)
    expected = {
        "nonsense": (400, "id_invalid"),
        UNKNOWN: (404, "not_found"),
        done.id: (400, "transition_invalid"),
        orphan.id: (409, "orphaned") if control in ("pause", "cancel") else (400, "transition_invalid"),
    }
    for job_id, (code, name) in expected.items():
        status, answer = await rest.post(f"/jobs/{job_id}/{control}")
        assert (status, answer["code"]) == (code, f"memcastle::jobs::{name}")
        assert answer["help"]


async def test_the_description_of_the_api_lists_the_fields_of_every_kind(palace: Store, rest: Rest) -> None:
    _, schema = await rest.get("/openapi.json")
    body = schema["paths"]["/api/jobs"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert [kind["title"] for kind in body["oneOf"]] == [kind.type for kind in kinds.registered()]
    answer = schema["paths"]["/api/jobs/{job_id}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/JobOut"}
    assert [priority.value for priority in Priority] == [100, 75, 50, 25, 0]
