"""Validity decides what a search may find: now, at an instant, within a window, or at any time."""

from __future__ import annotations

import pytest

from palace.clock import now
from palace.domain.clock import add_seconds
from palace.store import Store
from tests.search.support import drawer, found, put, room

MARCH = "2026-03-{:02}T00:00:00.000000000Z"


@pytest.fixture
async def history(palace: Store) -> None:
    """Four apples: of old, followed by the one of today; one of the future, and one that held for an hour."""
    place = await room()
    await put(
        palace,
        drawer(place, "apple old", valid_from=MARCH.format(1), valid_to=MARCH.format(10)),
        drawer(place, "apple new", valid_from=MARCH.format(10)),
        drawer(place, "apple hour", valid_from="2026-03-05T23:30:00.000000000Z", valid_to="2026-03-06T00:30:00.000000000Z"),
        drawer(place, "apple later", valid_from=add_seconds(now(), 3600)),
    )


def apples(contents: list[str]) -> set[str]:
    return {content.removeprefix("apple ") for content in contents}


@pytest.mark.usefixtures("history")
async def test_now_is_the_default_and_history_is_asked_for() -> None:
    assert apples(await found("apple")) == {"new"}
    assert apples(await found("apple", include_historical=True)) == {"old", "new", "hour", "later"}


@pytest.mark.usefixtures("history")
async def test_an_instant_sees_what_held_then() -> None:
    cases = {
        "2026-02-28": set(),
        "2026-03-01": {"old"},
        "2026-03-01T00:00:00Z": {"old"},
        "2026-02-28T23:59:59.999999999Z": set(),
        "2026-03-05T23:29:59.999999999Z": {"old"},
        "2026-03-05T23:30:00Z": {"old", "hour"},
        "2026-03-06": {"old", "hour"},
        "2026-03-06T00:29:59.999999999Z": {"old", "hour"},
        "2026-03-06T00:30:00Z": {"old"},
        "2026-03-09T23:59:59.999999999Z": {"old"},
        "2026-03-10": {"new"},
        "2026-03-06T09:00:00+09:00": {"old", "hour"},
        "2026-03-05T18:30:00-05:00": {"old", "hour"},
        "9999-01-01": {"new", "later"},
        "0001-01-01": set(),
    }
    for moment, expected in cases.items():
        assert apples(await found("apple", as_of=moment)) == expected, moment


@pytest.mark.usefixtures("history")
async def test_a_window_sees_what_held_at_some_time_in_it() -> None:
    cases = {
        ("2026-02-01", "2026-03-01"): set(),
        ("2026-02-01", "2026-03-02"): {"old"},
        ("2026-03-05", "2026-03-06"): {"old", "hour"},
        ("2026-03-06T00:30:00Z", "2026-03-07"): {"old"},
        ("2026-03-09", "2026-03-10"): {"old"},
        ("2026-03-09", "2026-03-10T00:00:00.000000001Z"): {"old", "new"},
        ("2026-03-10", "2026-03-11"): {"new"},
        ("2026-03-01", "9999-01-01"): {"old", "new", "hour", "later"},
    }
    for (start, end), expected in cases.items():
        assert apples(await found("apple", from_=start, until=end)) == expected, (start, end)


@pytest.mark.usefixtures("history")
async def test_the_clock_of_the_machine_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    assert apples(await found("apple", as_of="2026-03-06")) == {"old", "hour"}
    assert apples(await found("apple", from_="2026-03-05", until="2026-03-06")) == {"old", "hour"}


async def test_time_and_words_decide_together(palace: Store) -> None:
    """Any word is enough when no text of that time has them all."""
    place = await room()
    await put(
        palace,
        drawer(place, "apple pear", valid_from=MARCH.format(1), valid_to=MARCH.format(2)),
        drawer(place, "apple plum", valid_from=MARCH.format(1)),
    )
    assert await found("apple pear") == ["apple plum"]
    assert await found("apple pear", as_of="2026-03-01") == ["apple pear"]
