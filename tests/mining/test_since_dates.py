"""Dates in the options of a run."""

from __future__ import annotations

import pytest

from mining.domain.dates import since


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-09", "2026-09-01T00:00:00.000000000Z"),
        ("2026-09-14", "2026-09-14T00:00:00.000000000Z"),
        ("2026-09-14T10:00:00Z", "2026-09-14T10:00:00.000000000Z"),
        ("2026-09-14T10:00:00.5+02:00", "2026-09-14T08:00:00.500000000Z"),
        (" 2026-09 ", "2026-09-01T00:00:00.000000000Z"),
    ],
)
def test_months_days_and_instants_are_read_as_utc(written: str, meant: str) -> None:
    assert since(written) == meant


@pytest.mark.parametrize(
    "written", ["", "2026", "2026-13", "2026-9", "2026-02-30", "14.09.2026", "yesterday", "2026-09-14T10:00:00", "٢٠٢٦-٠٩"]
)
def test_anything_else_is_refused_with_the_accepted_forms(written: str) -> None:
    with pytest.raises(ValueError, match=r"month \(2026-09\)"):
        since(written)
