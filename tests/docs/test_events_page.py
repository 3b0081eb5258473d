"""docs/events.md tells of every kind of event."""

from __future__ import annotations

from palace.events import RESYNC
from palace.events.bus import CAPACITY, OPEN
from palace.events.tailer import REPLAY_FRAMES
from palace.services.events import KINDS
from tests.docs.pages import page, section, words_in_code

PAGE = page("events.md")


def test_every_kind_of_event_is_described() -> None:
    assert {*KINDS, RESYNC.kind, OPEN.kind} <= words_in_code(section(PAGE, "Frames"))
    assert set(KINDS) <= words_in_code(section(PAGE, "Request"))


def test_the_limits_are_those_of_the_code() -> None:
    assert f"{CAPACITY:,} frames" in PAGE
    assert f"{REPLAY_FRAMES:,} frames" in PAGE
