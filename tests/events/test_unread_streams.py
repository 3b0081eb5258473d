"""A client that holds its stream open and reads nothing: it delays no stop, harms no other client, and is told once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from palace.events.bus import CAPACITY
from tests.events.conftest import OpenStream
from tests.events.seeding import seed
from tests.events.support import Stream
from tests.support import Daemon, until

SEEDED = 9000
LENGTH = 1000
"""Nine megabytes of frames: more than the buffers of a connection hold."""


@pytest.fixture
def crammed(tmp_path: Path) -> Iterator[tuple[Daemon, Stream]]:
    """A daemon, and a stream to which it writes more than the connection takes."""
    daemon = Daemon(tmp_path / "home", {"MEMCASTLE_JOBS_DRAIN_TIMEOUT_SECS": "600"})
    try:
        daemon.start()
        first = Stream.open(daemon)
        daemon.post("/api/wings/w/rooms/r/drawers", {"content": "before"})
        place = first.until(lambda event: event.name == "drawer")[-1].id
        first.close()
        daemon.stop()
        seed(daemon, SEEDED, length=LENGTH)
        daemon.start()
        stream = Stream.open(daemon, "", Last_Event_ID=place)
        yield daemon, stream
        stream.close()
    finally:
        if daemon.process is not None:
            daemon.stop()


def is_stuck(daemon: Daemon, stream: Stream) -> bool:
    """Whether the daemon's side of the connection has more to send than the client takes."""
    port = stream.connection.getsockname()[1]
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[2].endswith(f":{port:04X}") and int(row[4].split(":")[0], 16) > 500_000 for row in rows)


def test_it_delays_no_stop(crammed: tuple[Daemon, Stream]) -> None:
    daemon, stream = crammed
    until(lambda: is_stuck(daemon, stream), "the connection to be full")
    # The daemon would wait ten minutes for running work, which is longer than this test does.
    assert daemon.stop() == 0
    assert "requests cancelled" not in daemon.log.read_text()


def test_it_takes_nothing_from_others_and_is_told_once(
    crammed: tuple[Daemon, Stream], follow: OpenStream, tmp_path: Path
) -> None:
    daemon, stream = crammed
    until(lambda: is_stuck(daemon, stream), "the connection to be full")
    other = follow(daemon, "?kinds=drawer")
    files = tmp_path / "files"
    files.mkdir()
    for number in range(CAPACITY + 100):
        (files / f"{number}.txt").write_text(f"file {number}")
    assert daemon.mine(files)["status"] == "completed"
    told = [other.next() for _ in range(CAPACITY + 100)]
    assert {event.name for event in told} == {"drawer"}
    # It reads after all: what was on its way, one word that the rest was lost, and what happens from then on.
    late = stream.until(lambda event: event.name == "resync")
    assert [event.data["id"] for event in late if event.data.get("id", "").startswith("seeded-")] == [
        f"seeded-{number}-" + "x" * LENGTH for number in range(SEEDED)
    ]
    drawer = daemon.post("/api/wings/w/rooms/r/drawers", {"content": "after"})["id"]
    rest = stream.until(lambda event: event.data.get("id") == drawer)
    assert "resync" not in [event.name for event in rest]
