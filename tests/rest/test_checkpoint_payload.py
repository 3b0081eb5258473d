"""What a checkpoint's payload must look like, and what is answered when it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rest.support import JOB, JSON, UNKNOWN_ID, Wire, path, refused
from tests.support import Answer, Daemon

OTHER_ID = "37ccdf4a-9e8a-49c9-b4b0-acf143734315"
LEFT_OUT = "a field that is not there"


def item(**fields: Any) -> dict[str, Any]:
    given = {"destination": "general", "content": "a text", "tags": [], "source": {"kind": "manual"}} | fields
    return {name: value for name, value in given.items() if value is not LEFT_OUT}


def add(**fields: Any) -> dict[str, Any]:
    given = {"op": "add", "subject": UNKNOWN_ID, "predicate": "uses", "object": OTHER_ID, "confidence": 0.5} | fields
    return {name: value for name, value in given.items() if value is not LEFT_OUT}


def supersede(**fields: Any) -> dict[str, Any]:
    ids = {"relationship_id": UNKNOWN_ID, "from": UNKNOWN_ID, "to": OTHER_ID}
    return {"op": "supersede", **ids, "predicate": "uses", "confidence": 1} | fields


def invalidate(**fields: Any) -> dict[str, Any]:
    return {"op": "invalidate", "relationship_id": UNKNOWN_ID} | fields


def link(**fields: Any) -> dict[str, Any]:
    given = {"op": "link", "relationship_id": UNKNOWN_ID, "other_id": OTHER_ID, "kind": "confirms", "reason": "seen"} | fields
    return {name: value for name, value in given.items() if value is not LEFT_OUT}


WRONG_ITEMS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"destination": LEFT_OUT}, "destination: "),
    ({"destination": "diaries"}, "destination: "),
    ({"destination": "General"}, "destination: "),
    ({"destination": None}, "destination: "),
    ({"content": LEFT_OUT}, "content: "),
    ({"content": 1}, "content: "),
    ({"content": None}, "content: "),
    ({"content": ""}, "content: it is blank"),
    ({"content": " \n\t\u3000"}, "content: it is blank"),
    ({"content": "a\0b"}, "content: it holds a NUL"),
    ({"tags": LEFT_OUT}, "tags: "),
    ({"tags": None}, "tags: "),
    ({"tags": "a"}, "tags: "),
    ({"tags": ["a", 1]}, "tags[1]: "),
    ({"tags": ["\0"]}, "tags[0]: it holds a NUL"),
    ({"source": LEFT_OUT}, "source: "),
    ({"source": None}, "source: "),
    ({"source": "manual"}, "source: "),
    ({"source": {}}, "source.kind: "),
    ({"source": {"kind": None}}, "source.kind: "),
    ({"source": {"kind": "note", "uri": 1}}, "source.uri: "),
    ({"source": {"kind": "note", "agent": []}}, "source.agent: "),
    ({"wing": 1}, "wing: "),
    ({"name": ["n"]}, "name: "),
    ({"fact": 1}, "fact: "),
    ({"fact": []}, "fact: "),
    ({"fact": {}}, "fact: "),
    ({"fact": {"op": "ADD"}}, "fact: "),
    ({"fact": {"op": None}}, "fact: "),
    ({"fact": add(subject="Ada")}, "fact.subject: it must be an id"),
    ({"fact": add(object=LEFT_OUT)}, "fact.object: "),
    ({"fact": add(predicate=None)}, "fact.predicate: "),
    ({"fact": add(confidence=LEFT_OUT)}, "fact.confidence: "),
    ({"fact": add(confidence="0.5")}, "fact.confidence: "),
    ({"fact": add(confidence=True)}, "fact.confidence: "),
    ({"fact": add(confidence=1.0000001)}, "fact.confidence: "),
    ({"fact": add(confidence=-0.1)}, "fact.confidence: "),
    ({"fact": add(confidence=10**400)}, "fact.confidence: "),
    ({"fact": supersede(to="x")}, "fact.to: it must be an id"),
    ({"fact": {name: value for name, value in supersede().items() if name != "from"}}, "fact.from: "),
    ({"fact": supersede(reason="")}, "fact.reason: it is blank"),
    ({"fact": supersede(reason=" \t")}, "fact.reason: it is blank"),
    ({"fact": invalidate(relationship_id="7")}, "fact.relationship_id: it must be an id"),
    ({"fact": invalidate(reason=" ")}, "fact.reason: it is blank"),
    ({"fact": link(reason=LEFT_OUT)}, "fact.reason: "),
    ({"fact": link(reason=None)}, "fact.reason: "),
    ({"fact": link(reason="\n")}, "fact.reason: it is blank"),
    ({"fact": link(kind="supports")}, "fact.kind: "),
    ({"fact": link(other_id=UNKNOWN_ID)}, "fact: relationship_id and other_id are the same fact"),
    ({"fact": link(other_id=f"{{{UNKNOWN_ID.upper()}}}")}, "fact: relationship_id and other_id are the same fact"),
)
WRONG_PAYLOADS: tuple[tuple[Any, str], ...] = (
    (LEFT_OUT, ""),
    (None, ""),
    (1, ""),
    ([], ""),
    ("items", ""),
    ({}, "items: "),
    ({"items": None}, "items: "),
    ({"items": {}}, "items: "),
    ({"items": []}, "items is empty"),
    ({"items": [1]}, "items[0]: "),
    ({"items": [None]}, "items[0]: "),
)


def submitted(rest: Daemon, payload: Any, **fields: Any) -> Answer:
    body = {"type": "checkpoint", "payload": payload, **fields}
    return rest.request("POST", "/api/jobs", {name: value for name, value in body.items() if value is not LEFT_OUT})


def checkpoints(rest: Daemon) -> int:
    return len(rest.get("/api/jobs?kind=checkpoint&limit=200"))


@pytest.mark.parametrize(("payload", "told"), WRONG_PAYLOADS, ids=lambda value: repr(value)[:40])
def test_a_payload_of_another_shape_is_blamed_on_the_payload(rest: Daemon, payload: Any, told: str) -> None:
    before = checkpoints(rest)
    answer = submitted(rest, payload)
    refused(answer, 400, "input::invalid", "payload")
    assert answer.json["error"].startswith(f"payload: {told}")
    assert checkpoints(rest) == before


@pytest.mark.parametrize(("fields", "told"), WRONG_ITEMS, ids=lambda value: repr(value)[:60])
def test_an_item_of_another_shape_is_named(rest: Daemon, fields: dict[str, Any], told: str) -> None:
    before = checkpoints(rest)
    answer = submitted(rest, {"items": [item(), item(**fields)]})
    refused(answer, 400, "input::invalid", "payload")
    assert answer.json["error"].startswith(f"payload: items[1].{told}"), answer.text
    assert checkpoints(rest) == before


def test_all_that_is_wrong_is_told_and_many_problems_are_counted(rest: Daemon) -> None:
    answer = submitted(rest, {"items": [item(tags=1, source=2)]})
    assert "items[0].tags: " in answer.json["error"]
    assert "items[0].source: " in answer.json["error"]
    crowd = submitted(rest, {"items": [1] * 25})
    refused(crowd, 400, "input::invalid", "payload")
    assert "items[9]: " in crowd.json["error"]
    assert crowd.json["error"].endswith("; and 15 more")


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        *(({"name": name}, "drawer") for name in ("", " a", "a//b", "../a", "a\n", UNKNOWN_ID)),
        *(({"wing": wing}, "wing") for wing in ("", "new/wing", " a", "a\0b", UNKNOWN_ID)),
    ],
    ids=repr,
)
def test_a_name_that_cannot_be_given_is_refused(rest: Daemon, fields: dict[str, Any], word: str) -> None:
    before = checkpoints(rest)
    answer = submitted(rest, {"items": [item(), item(**fields)]})
    refused(answer, 400, "palace::path_invalid")
    assert word in answer.json["error"]
    assert checkpoints(rest) == before


@pytest.mark.parametrize("fact", [add(), add(confidence=0), supersede(reason="better"), invalidate(), link(kind="refines")])
def test_a_well_formed_fact_is_refused_and_nothing_is_stored(rest: Daemon, fact: dict[str, Any]) -> None:
    before = checkpoints(rest)
    answer = submitted(rest, {"items": [item(wing="of facts"), item(wing="of facts", fact=fact)]})
    refused(answer, 400, "graph::facts_unavailable")
    assert "items[1]" in answer.json["error"]
    assert "nothing was stored" in answer.json["error"]
    assert checkpoints(rest) == before
    assert "of facts" not in [wing["name"] for wing in rest.get("/api/wings")]


def test_what_is_beside_the_payload_is_blamed_on_the_body(rest: Daemon) -> None:
    for fields in ({"emergency": 1}, {"emergency": "true"}, {"emergency": None}, {"requested_by": 1}):
        refused(submitted(rest, {"items": [item()]}, **fields), 400, "input::invalid", "body")


def test_the_shape_is_refused_before_the_mode_and_the_mode_before_the_meaning(rest: Daemon, wire: Wire) -> None:
    def asked(payload: Any, mode: str, **fields: Any) -> Answer:
        body = json.dumps({"type": "checkpoint", "payload": payload, **fields}).encode()
        return wire.ask("POST", "/api/jobs", body, {**JSON, "X-MemCastle-Mode": mode})

    before = checkpoints(rest)
    for mode in ("read_only", "disabled"):
        refused(asked({"items": [1]}, mode), 400, "input::invalid", "payload")
        for payload in ({"items": []}, {"items": [item(content="")]}, {"items": [item(name="../a")]}, {"items": [item()]}):
            plain, urgent = asked(payload, mode), asked(payload, mode, emergency=True)
            refused(plain, 403, "mode::forbidden")
            refused(urgent, 403, "mode::forbidden")
            assert plain.json["error"].startswith("checkpoint ")
            assert urgent.json["error"].startswith("emergency_checkpoint ")
    assert checkpoints(rest) == before


def test_a_checkpoint_is_shown_as_it_was_asked_for_and_files_its_items(rest: Daemon) -> None:
    given = item(wing="filed here", name="a/b", tags=["x"], source={"kind": "transcript", "agent": "ada"}, unknown="field")
    answer = submitted(
        rest, {"items": [given, item(wing="filed here"), item(wing="filed here", fact=None)]}, requested_by="cli"
    )
    assert answer.status == 200, answer.text
    job = answer.json
    assert set(job) == JOB
    assert (job["priority"], job["requested_by"]) == (75, "cli")
    assert job["kind"]["payload"]["items"][0] == {
        "destination": "general",
        "wing": "filed here",
        "name": "a/b",
        "content": "a text",
        "tags": ["x"],
        "source": {"kind": "transcript", "uri": None, "agent": "ada"},
    }
    ended = rest.ended(job["id"])
    assert (ended["status"], ended["result"]) == ("completed", {"items": 3, "duplicates": 2})
    drawer = rest.get(path("wings", "filed here", "rooms", "entries", "drawers") + "/a/b")
    assert (drawer["tags"], drawer["source"]["agent"]) == (["x"], "ada")
    assert drawer["provenance"] == {"requested_by": "cli", "job_id": job["id"]}
    (hit,) = rest.get("/api/search?q=text&wing=filed%20here&tag=x")
    assert hit["id"] == drawer["id"]


def test_an_emergency_is_critical(rest: Daemon) -> None:
    job = submitted(rest, {"items": [item(wing="urgent")]}, emergency=True).json
    assert job["priority"] == 100
    assert "emergency" not in job["kind"]
    assert rest.ended(job["id"])["status"] == "completed"


def test_a_name_with_other_content_fails_the_job(rest: Daemon) -> None:
    rest.post(path("wings", "named", "rooms", "entries", "drawers"), {"content": "mine", "name": "n"})
    job = submitted(rest, {"items": [item(wing="named", content="stays"), item(wing="named", name="n")]}).json
    ended = rest.ended(job["id"])
    assert (ended["status"], ended["result"]) == ("failed", None)
    assert "under the name 'n'" in ended["error"]
    assert ended["checkpoint"]["next_index"] == 1
