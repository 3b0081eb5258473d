"""A client that comes back with the id of the last event it saw gets what it missed, or is told to read everything again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.events.conftest import OpenStream
from tests.events.support import Event, Stream
from tests.support import Daemon


def write(daemon: Daemon, *texts: str) -> list[str]:
    return [daemon.post("/api/wings/w/rooms/r/drawers", {"content": text})["id"] for text in texts]


def drawers(stream: Stream, count: int) -> list[Event]:
    found: list[Event] = []
    while len(found) < count:
        event = stream.next()
        assert event.name != "resync"
        found += [event] if event.name == "drawer" else []
    return found


def test_nothing_is_missing_and_nothing_comes_twice(daemon: Daemon, follow: OpenStream) -> None:
    first = follow(daemon, "?kinds=drawer")
    ids = write(daemon, "one", "two")
    seen = drawers(first, 2)
    first.close()
    ids += write(daemon, "three", "four", "five")
    second = follow(daemon, "?kinds=drawer", Last_Event_ID=seen[0].id)
    ids += write(daemon, "six")
    assert [event.data["id"] for event in [seen[0], *drawers(second, 5)]] == ids


def test_ids_outlive_the_daemon(daemon: Daemon, follow: OpenStream) -> None:
    stream = follow(daemon, "?kinds=drawer")
    write(daemon, "one")
    (seen,) = drawers(stream, 1)
    missed = write(daemon, "two", "three")
    daemon.kill()
    daemon.start()
    missed += write(daemon, "four")
    again = follow(daemon, "?kinds=drawer", Last_Event_ID=seen.id)
    missed += write(daemon, "five")
    assert [event.data["id"] for event in drawers(again, 4)] == missed


def test_a_place_within_a_transaction_is_kept(daemon: Daemon, follow: OpenStream) -> None:
    stream = follow(daemon)
    write(daemon, "one")
    wing, room, drawer = (stream.next() for _ in range(3))
    assert (wing.name, room.name, drawer.name) == ("wing", "room", "drawer")
    for place, rest in ((wing, [room, drawer]), (room, [drawer])):
        again = follow(daemon, "", Last_Event_ID=place.id)
        assert [again.next() for _ in rest] == rest


@pytest.mark.parametrize(
    "broken", ["", "nonsense", "1-2-3", "-1-0", "{epoch}-0-0", "{epoch}-9999999999999999999-0", "{epoch}-1"]
)
def test_an_id_that_says_nothing_means_reading_everything_again(daemon: Daemon, follow: OpenStream, broken: str) -> None:
    stream = follow(daemon, "?kinds=drawer")
    write(daemon, "one")
    (seen,) = drawers(stream, 1)
    assert seen.id is not None
    again = follow(daemon, "", Last_Event_ID=broken.replace("{epoch}", seen.id.split("-")[0]))
    assert again.next().data == {"kind": "resync", "action": "updated"}
    write(daemon, "two")
    assert len(drawers(again, 1)) == 1


def test_the_id_of_another_palace_means_reading_everything_again(daemon: Daemon, follow: OpenStream, tmp_path: Path) -> None:
    stream = follow(daemon, "?kinds=drawer")
    write(daemon, "one")
    (seen,) = drawers(stream, 1)
    other = Daemon(tmp_path / "other")
    try:
        other.start()
        assert follow(other, "", Last_Event_ID=seen.id).next().name == "resync"
    finally:
        other.stop()
