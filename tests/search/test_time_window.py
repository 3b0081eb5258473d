"""Time is searched in half-open windows of canonical text."""

from __future__ import annotations

import pytest

from search.domain.query import (
    AsOf,
    Between,
    Current,
    Everything,
    Temporal,
    TimeWindow,
    query_from_body,
    query_from_text,
    window,
)

NOW = "2026-09-29T14:22:47.123456789Z"


def holds(record: tuple[str, str | None], searched: TimeWindow) -> bool:
    valid_from, valid_to = record
    return valid_from < searched.end and (valid_to is None or valid_to > searched.start)


@pytest.mark.parametrize(
    ("temporal", "expected"),
    [
        (Current(), TimeWindow(NOW, "2026-09-29T14:22:47.123456790Z")),
        (
            AsOf("2026-03-01T00:00:00.000000000Z"),
            TimeWindow("2026-03-01T00:00:00.000000000Z", "2026-03-01T00:00:00.000000001Z"),
        ),
        (
            Between("2026-03-01T00:00:00.000000000Z", "2026-04-01T00:00:00.000000000Z"),
            TimeWindow("2026-03-01T00:00:00.000000000Z", "2026-04-01T00:00:00.000000000Z"),
        ),
        (Everything(), None),
    ],
)
def test_the_window_of_each_form_of_time(temporal: Temporal, expected: TimeWindow | None) -> None:
    assert window(temporal, NOW) == expected


def test_a_point_crosses_seconds_and_years() -> None:
    assert TimeWindow.point("2026-12-31T23:59:59.999999999Z").end == "2027-01-01T00:00:00.000000000Z"


def test_a_record_holds_from_its_first_instant_to_just_before_its_last() -> None:
    record = ("2026-03-01T00:00:00.000000000Z", "2026-03-02T00:00:00.000000000Z")
    assert holds(record, TimeWindow.point(record[0]))
    assert not holds(record, TimeWindow.point("2026-02-28T23:59:59.999999999Z"))
    assert holds(record, TimeWindow.point("2026-03-01T23:59:59.999999999Z"))
    assert not holds(record, TimeWindow.point("2026-03-02T00:00:00.000000000Z"))


def test_windows_that_only_touch_do_not_overlap() -> None:
    march = TimeWindow("2026-03-01T00:00:00.000000000Z", "2026-04-01T00:00:00.000000000Z")
    assert not holds(("2026-04-01T00:00:00.000000000Z", None), march)
    assert not holds(("2026-02-01T00:00:00.000000000Z", "2026-03-01T00:00:00.000000000Z"), march)
    assert holds(("2026-03-31T23:59:59.999999999Z", None), march)


def test_the_same_instant_is_the_same_window_in_every_offset_and_door() -> None:
    spellings = [
        "2026-03-01T23:30:00Z",
        "2026-03-02T07:30:00+08:00",
        "2026-03-01t15:30:00.000-08:00",
        "2026-03-02T05:00:00+05:30",
    ]
    windows = {window(query_from_text(q="", as_of=spelling).temporal, NOW) for spelling in spellings}
    windows |= {window(query_from_body({"filter": {"temporal": {"as_of": s}}}).temporal, NOW) for s in spellings}
    assert windows == {TimeWindow("2026-03-01T23:30:00.000000000Z", "2026-03-01T23:30:00.000000001Z")}


def test_a_drawer_late_in_the_evening_utc_belongs_to_that_day_and_not_to_the_next() -> None:
    late = ("2026-03-01T23:30:00.000000000Z", "2026-03-01T23:45:00.000000000Z")
    first = window(query_from_text(q="", from_="2026-03-01", until="2026-03-02").temporal, NOW)
    second = window(query_from_text(q="", from_="2026-03-02", until="2026-03-03").temporal, NOW)
    assert first is not None
    assert second is not None
    assert holds(late, first)
    assert not holds(late, second)
