"""The commands of the palace hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from palace.management.commands.drawer import Command as Drawer
from palace.management.commands.drawers import Command as Drawers
from palace.management.commands.room import Command as Room
from palace.management.commands.rooms import Command as Rooms
from palace.management.commands.wing import Command as Wing
from palace.management.commands.wings import Command as Wings
from tests.console.support import FakeDaemon, Shell

UUID = "5f9c2b9e-7d3a-4a35-9d6f-0c1b2a3d4e5f"


def wing(name: str = "w", **values: Any) -> dict[str, Any]:
    record = {"id": UUID, "palace": "p", "name": name, "description": None, "created_at": "2026-03-01T12:00:00.000000000Z"}
    return record | {"rooms": 1, "drawers": 2} | values


def room(name: str = "r", wing_name: str = "w", **values: Any) -> dict[str, Any]:
    record = {"id": UUID, "wing": UUID, "name": name, "description": None, "created_at": "2026-03-01T12:00:00.000000000Z"}
    return record | {"wing_name": wing_name, "drawers": 2} | values


def drawer(name: str | None = "d", content: str = "text", **values: Any) -> dict[str, Any]:
    return {"id": UUID, "room": UUID, "name": name, "content": content} | values


def test_aliases_are_the_same_commands() -> None:
    assert (Wings, Rooms, Drawers) == (Wing, Room, Drawer)


def test_wing_show_prints_the_wing_and_its_rooms(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings/w", {"wing": wing(description="About w"), "rooms": [room("notes")]})
    assert shell.run(Wing, "show", "w").json["rooms"][0]["name"] == "notes"
    text = shell.run(Wing, "show", "w", terminal=True).out
    assert "About w" in text
    assert "w/notes" in text


def test_wing_create_says_whether_it_was_there(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/wings", (201, wing(created=True)), (200, wing(created=False)))
    assert "created wing w" in shell.run(Wing, "create", "w", "--description", "About", terminal=True).out
    assert daemon.requests[0].body == {"name": "w", "description": "About"}
    assert shell.run(Wing, "create", "w").json["created"] is False


@pytest.mark.parametrize("name", ["", " w", "w ", "a/b", "a\nb", UUID, "\x1b[2J"])
def test_a_bad_new_wing_name_is_refused_here(shell: Shell, daemon: FakeDaemon, name: str) -> None:
    outcome = shell.run(Wing, "create", name)
    assert outcome.code == 1
    assert "memcastle::palace::path_invalid" in outcome.err
    assert daemon.requests == []


@pytest.mark.parametrize("path", ["w", "w/", "/r", "w/ r", f"w/{UUID}", "w/r/d"])
def test_a_bad_new_room_path_is_refused_here(shell: Shell, daemon: FakeDaemon, path: str) -> None:
    outcome = shell.run(Room, "create", path)
    assert outcome.code == 1
    assert "memcastle::palace::path_invalid" in outcome.err
    assert daemon.requests == []


@pytest.mark.parametrize("path", ["w", "w/r/", "w/r/a//b", "w/r/../x", "w/r/.", f"w/r/{UUID}", "w/r/a\tb"])
def test_a_bad_new_drawer_path_is_refused_here(shell: Shell, daemon: FakeDaemon, path: str) -> None:
    outcome = shell.run(Drawer, "create", path, "--content", "x")
    assert outcome.code == 1
    assert "memcastle::palace::path_invalid" in outcome.err
    assert daemon.requests == []


def test_a_parent_may_be_an_id(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on(f"POST /api/wings/{UUID}/rooms", (201, room(created=True)))
    assert shell.run(Room, "create", f"{UUID}/r").code == 0


def test_odd_old_names_and_ids_can_be_looked_up(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings/%20odd", {"wing": wing(" odd"), "rooms": []})
    daemon.on(f"GET /api/wings/{UUID}/rooms/{UUID}/drawers/{UUID}", drawer())
    assert shell.run(Wing, "show", " odd").code == 0
    assert shell.run(Drawer, "show", f"{UUID}/{UUID}/{UUID}").code == 0


def test_room_list_of_one_wing_and_of_all(shell: Shell, daemon: FakeDaemon) -> None:
    other = "00000000-0000-4000-8000-000000000001"
    daemon.on("GET /api/wings", [wing("a"), wing("b/odd", id=other)])
    daemon.on(f"GET /api/wings/{UUID}/rooms", [room("r1", "a")])
    daemon.on(f"GET /api/wings/{other}/rooms", [room("r2", "b/odd")])
    daemon.on("GET /api/wings/a/rooms", [room("r1", "a")])
    assert [found["name"] for found in shell.run(Room, "list").json] == ["r1", "r2"]
    assert [found["name"] for found in shell.run(Room, "list", "--wing", "a").json] == ["r1"]
    assert "a/r1" in shell.run(Room, "list", terminal=True).out


def test_the_drawer_is_everything_after_the_second_slash(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("GET /api/wings/my%20wing/rooms/r%3F/drawers/src/100%25/%E5%9B%BE%23.py", drawer("src/100%/图#.py"))
    assert shell.run(Drawer, "show", "my wing/r?/src/100%/图#.py").code == 0


def test_drawer_show_prints_the_content_verbatim_on_a_terminal(shell: Shell, daemon: FakeDaemon) -> None:
    content = "  first [bold]line[/bold] :smile:\n\n" + "x" * 500 + "\n\x1b[2Jend"
    daemon.on("GET /api/wings/w/rooms/r/drawers/d", drawer(content=content))
    assert shell.run(Drawer, "show", "w/r/d", terminal=True).out == content.replace("\x1b", "\\x1b") + "\n"
    assert shell.run(Drawer, "show", "w/r/d").json["content"] == content


def test_drawer_list_shows_previews_and_says_when_they_are_cut(shell: Shell, daemon: FakeDaemon) -> None:
    summaries = [
        {
            "id": UUID,
            "name": None,
            "chars": 900,
            "preview": "long text",
            "source": {"kind": "file"},
            "created_at": "2026-03-01T12:00:00Z",
        },
        {
            "id": "x",
            "name": "n",
            "chars": 5,
            "preview": "short",
            "source": {"kind": "manual"},
            "created_at": "2026-03-01T12:00:00Z",
        },
    ]
    daemon.on("GET /api/wings/w/rooms/r/drawers", summaries)
    assert shell.run(Drawer, "list", "--room", "w/r", "--limit", "2").json == summaries
    assert daemon.requests[0].query == {"limit": ["2"]}
    shell.environ["NO_COLOR"] = "1"
    text = shell.run(Drawer, "list", "--room", "w/r", terminal=True).out
    assert f"{UUID}  900 characters, file" in text
    assert "long text…\n" in text
    assert "short\n" in text


@pytest.mark.parametrize("content", ["plain", "\ufeffBOM\r\nand CRLF\r\n", "图\x00\x1b", "--json"])
def test_content_from_each_place_arrives_verbatim(shell: Shell, daemon: FakeDaemon, tmp_path: Path, content: str) -> None:
    daemon.on("POST /api/wings/w/rooms/r/drawers", (201, drawer(created=True)))
    file = tmp_path / "text"
    file.write_bytes(content.encode())
    assert shell.run(Drawer, "create", "w/r/d", f"--content={content}").code == 0
    assert shell.run(Drawer, "create", "w/r/d", "--file", str(file)).code == 0
    assert shell.run(Drawer, "create", "w/r/d", "--file", "-", stdin=content).code == 0
    assert shell.run(Drawer, "create", "w/r/d", stdin=content).code == 0
    assert [request.body["content"] for request in daemon.requests] == [content] * 4
    assert {request.body["name"] for request in daemon.requests} == {"d"}
    assert {request.body["requested_by"] for request in daemon.requests} == {"cli"}


def test_a_drawer_without_a_name_gets_none(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("POST /api/wings/w/rooms/r/drawers", (201, drawer(None, created=True)))
    assert UUID in shell.run(Drawer, "create", "w/r", "--content", "x", terminal=True).out
    assert daemon.requests[0].body["name"] is None


def test_content_that_cannot_be_read_is_refused_here(shell: Shell, daemon: FakeDaemon, tmp_path: Path) -> None:
    file = tmp_path / "latin"
    file.write_bytes(b"Gr\xfc\xdfe")
    outcome = shell.run(Drawer, "create", "w/r/d", "--file", str(file))
    assert outcome.code == 1
    assert "not UTF-8" in outcome.err
    outcome = shell.run(Drawer, "create", "w/r/d", "--file", str(tmp_path / "none"))
    assert "memcastle::io::failed" in outcome.err
    assert daemon.requests == []


def test_content_comes_from_one_place_only(shell: Shell) -> None:
    assert shell.run(Drawer, "create", "w/r/d", "--content", "a", "--file", "b").code == 2


def test_delete_reports_the_counts(shell: Shell, daemon: FakeDaemon) -> None:
    daemon.on("DELETE /api/wings/w", {"wings": 1, "rooms": 2, "drawers": 0})
    assert shell.run(Wing, "delete", "w").json == {"wings": 1, "rooms": 2, "drawers": 0}
    assert "deleted 1 wing, 2 rooms" in shell.run(Wing, "delete", "w", "--yes", terminal=True).out
