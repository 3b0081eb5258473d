"""Wings, rooms and drawers over REST: statuses, shapes, and names of every kind in the path."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest

from tests.rest.support import DRAWER, ROOM, SUMMARY, UNKNOWN_ID, WING, path, refused
from tests.support import Answer, Daemon

CLIENTS = 8


def wing_named(rest: Daemon, name: str) -> dict[str, Any] | None:
    return next((wing for wing in rest.get("/api/wings") if wing["name"] == name), None)


def test_a_wing_is_created_once_and_keeps_its_description(rest: Daemon) -> None:
    first = rest.request("POST", "/api/wings", {"name": "once", "description": "as it was"})
    assert first.status == 201
    assert set(first.json) == WING | {"created"}
    assert (first.json["created"], first.json["description"]) == (True, "as it was")
    assert (first.json["rooms"], first.json["drawers"]) == (0, 0)
    again = rest.request("POST", "/api/wings", {"name": "once", "description": "another"})
    assert (again.status, again.json) == (200, first.json | {"created": False})
    assert rest.get("/api/wings/once") == {
        "wing": {key: value for key, value in first.json.items() if key != "created"},
        "rooms": [],
    }


def test_a_room_is_created_once_with_its_missing_wing(rest: Daemon) -> None:
    target = path("wings", "new with room", "rooms")
    first = rest.request("POST", target, {"name": "hall"})
    assert first.status == 201
    assert set(first.json) == ROOM | {"created"}
    assert (first.json["created"], first.json["description"], first.json["drawers"]) == (True, None, 0)
    assert first.json["wing_name"] == "new with room"
    again = rest.request("POST", target, {"name": "hall", "description": "late"})
    assert (again.status, again.json) == (200, first.json | {"created": False})
    wing = wing_named(rest, "new with room")
    assert wing is not None
    assert (wing["id"], wing["rooms"]) == (first.json["wing"], 1)
    assert rest.get(target) == [rest.get(f"{target}/hall")]
    assert set(rest.get(f"{target}/hall")) == ROOM


def test_a_drawer_is_stored_verbatim_with_its_missing_parents(rest: Daemon) -> None:
    content = "  Ünïcode\r\n\ttext 🜁 with\u2028everything\n\n"
    target = path("wings", "verbatim", "rooms", "here", "drawers")
    first = rest.request("POST", target, {"content": content})
    assert first.status == 201
    drawer = {key: value for key, value in first.json.items() if key != "created"}
    assert set(drawer) == DRAWER
    assert (drawer["content"], drawer["name"], drawer["tags"]) == (content, None, [])
    assert drawer["source"] == {"kind": "manual", "uri": None, "agent": None}
    assert drawer["provenance"] == {"requested_by": "http", "job_id": None}
    assert (drawer["valid_to"], drawer["embedding"]) == (None, None)
    assert drawer["valid_from"] == drawer["created_at"] == drawer["updated_at"]
    assert rest.get(f"{target}/{drawer['id']}") == drawer
    again = rest.request("POST", target, {"content": content})
    assert (again.status, again.json) == (200, drawer | {"created": False})


def test_the_hash_is_that_of_the_content_and_the_channel_is_recorded(rest: Daemon) -> None:
    target = path("wings", "hashed", "rooms", "r", "drawers")
    drawer = rest.post(target, {"content": "ordinary text", "requested_by": "a script"})
    assert drawer["content_hash"] == hashlib.sha256(b"ordinary text").hexdigest()
    assert drawer["provenance"]["requested_by"] == "a script"


def test_a_listing_tells_of_drawers_without_their_content(rest: Daemon) -> None:
    target = path("wings", "listed", "rooms", "r", "drawers")
    drawers = [rest.post(target, {"content": f"number {number} " + "é🜁" * 200, "name": f"n{number}"}) for number in range(3)]
    listed = rest.get(target)
    assert [summary["id"] for summary in listed] == [drawer["id"] for drawer in reversed(drawers)]
    for summary, drawer in zip(listed, reversed(drawers), strict=True):
        assert set(summary) == SUMMARY
        assert summary["chars"] == len(drawer["content"])
        assert summary["preview"] == drawer["content"][:120]
        assert all(summary[key] == drawer[key] for key in ("room", "name", "source", "created_at"))
    assert len(rest.get(f"{target}?limit=2")) == 2
    assert len(rest.get(f"{target}?limit=0")) == 3


def test_everything_answers_to_its_id_in_any_spelling(rest: Daemon) -> None:
    drawer = rest.post(path("wings", "by id", "rooms", "r", "drawers"), {"content": "text"})
    room = rest.get(path("wings", "by id", "rooms", "r"))
    for spelled in (str, str.upper, lambda id: "{" + id + "}", lambda id: id.replace("-", ""), lambda id: f"urn:uuid:{id}"):
        wing = spelled(room["wing"])
        assert rest.get(path("wings", wing))["wing"]["name"] == "by id"
        assert rest.get(path("wings", wing, "rooms", spelled(room["id"])))["id"] == room["id"]
        assert (
            rest.get(path("wings", wing, "rooms", spelled(room["id"]), "drawers", spelled(drawer["id"])))["id"] == drawer["id"]
        )


def test_ids_lead_to_nothing_outside_their_own_parent(rest: Daemon) -> None:
    drawer = rest.post(path("wings", "mine", "rooms", "r", "drawers"), {"content": "text"})
    rest.post(path("wings", "other", "rooms"), {"name": "r"})
    rest.post(path("wings", "mine", "rooms"), {"name": "second"})
    room = drawer["room"]
    refused(rest.request("GET", path("wings", "other", "rooms", room)), 404, "palace::room_not_found")
    refused(rest.request("GET", path("wings", "other", "rooms", "r", "drawers", drawer["id"])), 404, "palace::drawer_not_found")
    refused(
        rest.request("DELETE", path("wings", "mine", "rooms", "second", "drawers", drawer["id"])),
        404,
        "palace::drawer_not_found",
    )
    refused(
        rest.request("POST", path("wings", "other", "rooms", room, "drawers"), {"content": "x"}), 404, "palace::room_not_found"
    )
    assert rest.get(path("wings", "mine", "rooms", "r", "drawers", drawer["id"]))["id"] == drawer["id"]


def test_nothing_is_created_under_an_id_that_nothing_has(rest: Daemon) -> None:
    before = [wing["name"] for wing in rest.get("/api/wings")]
    refused(rest.request("POST", path("wings", UNKNOWN_ID, "rooms"), {"name": "r"}), 404, "palace::wing_not_found")
    drawers = path("wings", UNKNOWN_ID, "rooms", "r", "drawers")
    refused(rest.request("POST", drawers, {"content": "x"}), 404, "palace::wing_not_found")
    drawers = path("wings", "never made", "rooms", UNKNOWN_ID, "drawers")
    refused(rest.request("POST", drawers, {"content": "x"}), 404, "palace::room_not_found")
    assert [wing["name"] for wing in rest.get("/api/wings")] == before


def test_each_level_says_what_is_not_there(rest: Daemon) -> None:
    rest.post(path("wings", "levels", "rooms"), {"name": "r"})
    for method in ("GET", "DELETE"):
        refused(rest.request(method, path("wings", "no such")), 404, "palace::wing_not_found")
        refused(rest.request(method, path("wings", "levels", "rooms", "no such")), 404, "palace::room_not_found")
        refused(
            rest.request(method, path("wings", "levels", "rooms", "r", "drawers", "no such")), 404, "palace::drawer_not_found"
        )
        refused(rest.request(method, path("wings", "Levels", "rooms", "r", "drawers", "x")), 404, "palace::wing_not_found")


PLACE_NAMES = (
    *("with space", "per%cent", "100%25", "question?mark=1&b", "ha#sh", "plus+plus", "semi;colon", "am&per", "back\\slash"),
    *(
        "quo'te\"s",
        "<b onclick=x>",
        "Ünïcode",
        "图数据库",
        "👩‍👩‍👧",
        "e\u0301",
        "\u00e9",
        ".hidden",
        "...",
        "-dash",
        "~",
        "drawers",
        "rooms",
    ),
    *("my-app", "my_app", "MY-APP", "a" * 300, "'; REMOVE TABLE wing; --", "$wing", "{wing}", "null", "true", "0"),
)


@pytest.mark.parametrize("name", PLACE_NAMES, ids=lambda name: ascii(name)[:30])
def test_wings_rooms_and_drawers_of_any_name(rest: Daemon, name: str) -> None:
    wing, room = f"{name} (names)", name
    created = rest.request("POST", path("wings", wing, "rooms"), {"name": room})
    assert (created.status, created.json["wing_name"], created.json["name"]) == (201, wing, room)
    drawer = rest.request("POST", path("wings", wing, "rooms", room, "drawers"), {"content": name, "name": name})
    assert (drawer.status, drawer.json["name"]) == (201, name)
    assert rest.get(path("wings", wing))["rooms"][0]["name"] == room
    assert rest.get(path("wings", wing, "rooms", room))["drawers"] == 1
    assert rest.get(path("wings", wing, "rooms", room, "drawers", name))["id"] == drawer.json["id"]
    assert rest.request("DELETE", path("wings", wing)).json == {"wings": 1, "rooms": 1, "drawers": 1}
    refused(rest.request("GET", path("wings", wing)), 404, "palace::wing_not_found")


@pytest.mark.parametrize(
    "name", ["a/b", "deep/er/and/deeper", "notes/2026 03/to do?.md", "50%/a#b", "dots/..b/.c/d.", "drawers/x", "图/数"]
)
def test_drawer_names_with_slashes_are_found_with_them_encoded_or_not(rest: Daemon, name: str) -> None:
    target = path("wings", "slashes", "rooms", "r", "drawers")
    drawer = rest.post(target, {"content": f"text of {name}", "name": name})
    for reference in (quote(name, safe=""), quote(name, safe="/")):
        assert rest.get(f"{target}/{reference}")["id"] == drawer["id"]
    assert rest.request("DELETE", f"{target}/{quote(name)}").json == {"wings": 0, "rooms": 0, "drawers": 1}
    refused(rest.request("GET", f"{target}/{quote(name)}"), 404, "palace::drawer_not_found")


BAD_NAMES = (
    *("", " ", " a", "a ", "a\n", "a\tb", "a\0b", "\x7f", "\u0085"),
    *(UNKNOWN_ID, UNKNOWN_ID.upper(), UNKNOWN_ID.replace("-", ""), "{" + UNKNOWN_ID + "}", f"urn:uuid:{UNKNOWN_ID}"),
)


@pytest.mark.parametrize("name", [*BAD_NAMES, "a/b", "/"], ids=ascii)
def test_names_that_no_wing_or_room_may_have(rest: Daemon, name: str) -> None:
    refused(rest.request("POST", "/api/wings", {"name": name}), 400, "palace::path_invalid")
    refused(rest.request("POST", path("wings", "w", "rooms"), {"name": name}), 400, "palace::path_invalid")


@pytest.mark.parametrize("name", [*BAD_NAMES, "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/.", "../x"], ids=ascii)
def test_names_that_no_drawer_may_have(rest: Daemon, name: str) -> None:
    target = path("wings", "bad drawer names", "rooms", "r", "drawers")
    refused(rest.request("POST", target, {"content": "text", "name": name}), 400, "palace::path_invalid")
    assert wing_named(rest, "bad drawer names") is None


def test_places_that_come_into_being_on_the_way_need_usable_names(rest: Daemon) -> None:
    for wing, room in ((" a", "r"), ("a ", "r"), ("w", " r"), ("a\tb", "r"), ("w", "a\x1fb")):
        refused(
            rest.request("POST", path("wings", wing, "rooms", room, "drawers"), {"content": "x"}), 400, "palace::path_invalid"
        )


@pytest.mark.parametrize("content", ["", " ", "\n\t \r\n", "\u00a0\u2003"], ids=ascii)
def test_a_blank_text_is_no_drawer(rest: Daemon, content: str) -> None:
    target = path("wings", "blank", "rooms", "r", "drawers")
    refused(rest.request("POST", target, {"content": content}), 400, "input::invalid", "content")
    assert wing_named(rest, "blank") is None


def test_a_name_holds_one_content(rest: Daemon) -> None:
    target = path("wings", "names", "rooms", "r", "drawers")
    first = rest.post(target, {"content": "one", "name": "n"})
    same = rest.request("POST", target, {"content": "one", "name": "n"})
    assert (same.status, same.json) == (200, first | {"created": False})
    refused(rest.request("POST", target, {"content": "two", "name": "n"}), 409, "palace::drawer_name_taken")
    elsewhere = rest.request("POST", path("wings", "names", "rooms", "s", "drawers"), {"content": "two", "name": "n"})
    assert elsewhere.status == 201


def test_deletions_say_what_they_took_and_leave_nothing_behind(rest: Daemon) -> None:
    for room in ("a", "b"):
        for number in range(3):
            rest.post(path("wings", "doomed", "rooms", room, "drawers"), {"content": f"perishable {room} {number}"})
    before = rest.get("/api/status")["drawer_count"]
    assert rest.request("DELETE", path("wings", "doomed", "rooms", "a")).json == {"wings": 0, "rooms": 1, "drawers": 3}
    doomed = wing_named(rest, "doomed")
    assert doomed is not None
    assert (doomed["rooms"], doomed["drawers"]) == (1, 3)
    assert {hit["room_name"] for hit in rest.get("/api/search?q=perishable")} == {"b"}
    assert rest.request("DELETE", path("wings", "doomed")).json == {"wings": 1, "rooms": 1, "drawers": 3}
    assert rest.get("/api/search?q=perishable&include_historical=true") == []
    assert rest.get("/api/status")["drawer_count"] == before - 6
    refused(rest.request("DELETE", path("wings", "doomed")), 404, "palace::wing_not_found")


def test_places_stay_while_jobs_that_write_are_pending(rest: Daemon) -> None:
    rest.post(path("wings", "busy", "rooms", "r", "drawers"), {"content": "text", "name": "n"})
    blocker = rest.post("/api/jobs", {"type": "demo", "steps": 100_000})["id"]
    mines = [
        rest.post("/api/jobs", {"type": "mine", "path": f"/nowhere/{number}", "wing": "elsewhere"})["id"] for number in "ab"
    ]
    answer = rest.request("DELETE", path("wings", "busy"))
    refused(answer, 409, "palace::busy")
    assert " 2 jobs " in answer.json["error"]
    rest.post(f"/api/jobs/{mines[0]}/cancel")
    answer = rest.request("DELETE", path("wings", "busy", "rooms", "r"))
    refused(answer, 409, "palace::busy")
    assert " 1 job " in answer.json["error"]
    assert rest.request("DELETE", path("wings", "busy", "rooms", "r", "drawers", "n")).status == 200
    rest.post(f"/api/jobs/{mines[1]}/cancel")
    assert rest.request("DELETE", path("wings", "busy")).json == {"wings": 1, "rooms": 1, "drawers": 0}
    rest.post(f"/api/jobs/{blocker}/cancel")
    rest.ended(blocker)


def at_once(ask: Callable[[int], Answer]) -> list[Answer]:
    """What clients are answered that ask at the same instant."""
    together = threading.Barrier(CLIENTS)

    def one(number: int) -> Answer:
        together.wait()
        return ask(number)

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(one, range(CLIENTS)))


def test_the_same_note_from_many_clients_at_once_is_one_drawer(rest: Daemon) -> None:
    target = path("wings", "same note", "rooms", "r", "drawers")
    answers = at_once(lambda number: rest.request("POST", target, {"content": "the same note"}))
    assert sorted(answer.status for answer in answers) == [200] * (CLIENTS - 1) + [201]
    assert len({answer.json["id"] for answer in answers}) == 1
    assert rest.get(path("wings", "same note"))["wing"]["drawers"] == 1


def test_one_name_wanted_by_many_clients_at_once_has_one_winner(rest: Daemon) -> None:
    target = path("wings", "one name", "rooms", "r", "drawers")
    answers = at_once(lambda number: rest.request("POST", target, {"content": f"text {number}", "name": "wanted"}))
    assert sorted(answer.status for answer in answers) == [201] + [409] * (CLIENTS - 1)
    for answer in answers:
        if answer.status == 409:
            refused(answer, 409, "palace::drawer_name_taken")
    winner = next(answer.json for answer in answers if answer.status == 201)
    assert rest.get(f"{target}/wanted")["content"] == winner["content"]
    assert rest.get(path("wings", "one name"))["wing"]["drawers"] == 1


def test_a_drawer_of_nearly_two_mebibytes_comes_back_whole(rest: Daemon) -> None:
    content = "0123456789abcde\n" * 120_000
    target = path("wings", "large", "rooms", "r", "drawers")
    drawer = rest.post(target, {"content": content})
    assert rest.get(f"{target}/{drawer['id']}")["content"] == content
    assert rest.get(target)[0]["chars"] == len(content)
