"""A client that comes back in the middle of much happening gets every event once, however the reading and the telling meet."""

from __future__ import annotations

import asyncio
import threading

import pytest

from palace.clock import now
from palace.domain.modes import Caller
from palace.events import ChangeTailer, Frame, install
from palace.events.bus import Replay
from palace.services.events import follow
from palace.store import Store
from palace.store.changes import Change, announce
from tests.events.conftest import OpenStream
from tests.events.support import id_of
from tests.support import Daemon

EVENTS = 120


async def commit(palace: Store, id: str) -> None:
    await palace.transact(announce(now(), Change("drawer", "created", id)))


async def test_what_is_told_while_the_past_is_read_comes_once(palace: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    following = ChangeTailer(palace)
    await following.start()
    install(following)
    try:
        first = following.bus.subscribe()
        # So many subscribers that what is published is held back and goes out together.
        crowd = [following.bus.subscribe() for _ in range(500)]
        await commit(palace, "seen")
        (seen,) = await first.take(20)

        read = following.missed

        async def late(event_id: str) -> Replay | None:
            await commit(palace, "meanwhile")
            async with asyncio.timeout(20):
                while len(following._seen) < 2:
                    await asyncio.sleep(0)
            return await read(event_id)

        monkeypatch.setattr(following, "missed", late)
        async with follow(Caller(), None, id_of(seen)) as subscription:
            await commit(palace, "after")
            got: list[Frame] = []
            while more := await subscription.take(2):
                got += more
        assert [("meanwhile" in frame.text.decode(), "after" in frame.text.decode()) for frame in got] == [
            (True, False),
            (False, True),
        ]
        assert len(crowd) == 500
    finally:
        install(None)
        await following.stop()


def test_a_client_that_comes_back_after_every_event_gets_each_once(daemon: Daemon, follow: OpenStream) -> None:
    crowd = [follow(daemon, "?kinds=job") for _ in range(60)]
    stream = follow(daemon, "?kinds=drawer")
    written: list[str] = []

    def write() -> None:
        for number in range(EVENTS):
            drawer = daemon.post("/api/wings/w/rooms/r/drawers", {"content": f"text {number}"})
            written.append(drawer["id"])

    writer = threading.Thread(target=write)
    writer.start()
    got: list[str] = []
    while len(got) < EVENTS:
        event = stream.next()
        assert event.name == "drawer"
        got.append(event.data["id"])
        stream.close()
        assert event.id is not None
        stream = follow(daemon, "?kinds=drawer", Last_Event_ID=event.id)
    writer.join()
    assert got == written
    last = daemon.post("/api/wings/w/rooms/r/drawers", {"content": "last"})["id"]
    assert stream.next().data["id"] == last
    assert len(crowd) == 60
