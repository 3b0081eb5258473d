"""Validity is half-open: the instant of the end is no longer part of it."""

from __future__ import annotations

import pytest

from palace.domain.history import holds_at, overlap


@pytest.mark.parametrize(
    ("start", "end", "moment", "holds"),
    [
        ("2", None, "1", False),
        ("2", None, "2", True),
        ("2", None, "9", True),
        ("2", "4", "3", True),
        ("2", "4", "4", False),
        ("2", "2", "2", False),
        ("2", "", "9", True),
    ],
)
def test_what_holds_at_an_instant(start: str, end: str | None, moment: str, holds: bool) -> None:
    assert holds_at(start, end, moment) is holds


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        pytest.param(("1", "3"), ("2", "4"), True, id="in part"),
        pytest.param(("1", "9"), ("3", "4"), True, id="one within the other"),
        pytest.param(("1", "3"), ("3", "5"), False, id="touching"),
        pytest.param(("1", "2"), ("3", "4"), False, id="apart"),
        pytest.param(("1", None), ("3", None), True, id="both open"),
        pytest.param(("1", None), ("3", "4"), True, id="one open"),
        pytest.param(("5", None), ("3", "4"), False, id="opened after the end of the other"),
        pytest.param(("3", "3"), ("1", "9"), False, id="empty"),
    ],
)
def test_overlapping(one: tuple[str, str | None], other: tuple[str, str | None], common: bool) -> None:
    assert overlap(*one, *other) is common
    assert overlap(*other, *one) is common
