"""An id of which it is not sure that everything after it is still there, or too much is, means reading everything again."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest

from palace.clock import now
from palace.domain.clock import Timestamp, add_seconds
from palace.events import ChangeTailer
from palace.events import tailer as module
from palace.store import Store
from palace.store.changes import KEEP_SECONDS, MILLISECOND, Change, announce, purge_changes
from tests.events.support import id_of


@pytest.fixture
async def following(palace: Store) -> AsyncIterator[ChangeTailer]:
    tailer = ChangeTailer(palace)
    await tailer.start()
    yield tailer
    await tailer.stop()


async def told(tailer: ChangeTailer, palace: Store, *ids: str, at: Timestamp | None = None) -> list[str]:
    """Commits one transaction; gives the event ids that it was told under."""
    subscription = tailer.bus.subscribe()
    await palace.transact(announce(at or now(), *(Change("drawer", "created", id) for id in ids)))
    frames = await subscription.take(20)
    assert len(frames) == len(ids)
    tailer.bus.unsubscribe(subscription)
    return [id_of(frame) for frame in frames]


async def test_an_id_older_than_what_is_kept(palace: Store, following: ChangeTailer) -> None:
    (recent,) = await told(following, palace, "one")
    epoch, stamp, index = recent.split("-")
    for seconds in (KEEP_SECONDS, KEEP_SECONDS + 1, 400 * 86_400):
        assert await following.missed(f"{epoch}-{int(stamp) - seconds * 1000 * MILLISECOND}-{index}") is None


async def test_age_counts_from_today_and_not_from_the_last_event(
    palace: Store, following: ChangeTailer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The palace was quiet for days: what came after the id may be gone though hardly anything happened since."""
    (seen,) = await told(following, palace, "seen")
    (missed,) = await told(following, palace, "missed")
    real = time.time
    monkeypatch.setattr(module.time, "time", lambda: real() + KEEP_SECONDS)
    assert await following.missed(seen) is None
    # Nothing at all came after this one, so nothing can be gone.
    replay = await following.missed(missed)
    assert replay is not None
    assert replay.frames == []


async def test_removing_aged_entries_takes_nothing_from_a_client(palace: Store, following: ChangeTailer) -> None:
    """The feed has its own retention, so what is removed from the table can still be told."""
    aged = add_seconds(now(), -KEEP_SECONDS - 1)
    (seen,) = await told(following, palace, "seen", at=aged)
    later = await told(following, palace, "two", "three", at=aged)
    await purge_changes(palace, now())
    assert await palace.first("SELECT VALUE id FROM change WHERE array::len(entries) > 0;") == []
    replay = await following.missed(seen)
    assert replay is not None
    assert [id_of(frame) for frame in replay.frames] == later


async def test_a_client_that_missed_too_much(palace: Store, following: ChangeTailer, monkeypatch: pytest.MonkeyPatch) -> None:
    (seen,) = await told(following, palace, "seen")
    monkeypatch.setattr(module, "REPLAY_FRAMES", 50)
    await told(following, palace, *(str(number) for number in range(50)))
    replay = await following.missed(seen)
    assert replay is not None
    assert len(replay.frames) == 50
    await told(following, palace, "one more")
    assert await following.missed(seen) is None
