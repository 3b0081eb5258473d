"""Options are judged when a job is submitted; `since` narrows one run and is forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jobs.runtime.scheduler import Scheduler
from mining.services import MineRequest, submit_mine
from palace.domain.modes import Caller, MemoryMode
from palace.errors import InvalidInput, ModeForbidden
from palace.store import Store
from tests.mining.support import CALLER, counts, filed_texts, mine, put

MARCH, JUNE = 1_772_400_000, 1_780_300_000
"""2026-03-01T21:20:00Z and 2026-06-01T07:46:40Z."""


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"path": "relative/tree"}, "path"),
        ({"path": ""}, "path"),
        ({}, "path"),
        ({"path": "/tmp", "source": "directory"}, "path"),
        ({"path": "/tmp\0/x"}, "path"),
        ({"source": "chatgpt", "locator": "x"}, "source"),
        ({"source": "directory"}, "path"),
        ({"path": "/tmp", "options": {"dir": "/x"}}, "options"),
        ({"path": "/tmp", "options": {"since": "yesterday"}}, "since"),
        ({"path": "/tmp", "options": {"since": "2026-13"}}, "since"),
        ({"path": "/tmp", "options": {"ignore": "no"}}, "ignore"),
    ],
)
async def test_a_wish_that_no_run_could_fulfil_is_refused_at_submission(
    palace: Store, wish: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await submit_mine(CALLER, MineRequest(**wish))
    assert refused.value.field == field
    assert await palace.first("SELECT * FROM job;") == []


@pytest.mark.parametrize("mode", [MemoryMode.READ_ONLY, MemoryMode.DISABLED])
async def test_a_session_that_may_not_write_may_not_mine(palace: Store, tmp_path: Path, mode: MemoryMode) -> None:
    with pytest.raises(ModeForbidden):
        await submit_mine(Caller(mode), MineRequest(path=str(tmp_path)))


async def test_since_files_what_is_younger_and_the_next_run_files_the_rest(
    palace: Store, workers: Scheduler, tmp_path: Path
) -> None:
    root = tmp_path / "tree"
    put(root / "march.txt", "march", mtime=MARCH)
    put(root / "june.txt", "june", mtime=JUNE)
    assert counts(await mine(root, options={"since": "2026-03-02"}), "created", "skipped") == (1, 0)
    assert set(await filed_texts(palace, root)) == {"june.txt"}
    assert counts(await mine(root), "created", "unchanged") == (1, 1)
    assert set(await filed_texts(palace, root)) == {"march.txt", "june.txt"}


@pytest.mark.parametrize(
    ("since", "filed"),
    [
        ("2026-03", {"march.txt", "june.txt"}),
        ("2026-03-01", {"march.txt", "june.txt"}),
        ("2026-03-01T21:20:00Z", {"march.txt", "june.txt"}),
        ("2026-03-01T22:20:00+01:00", {"march.txt", "june.txt"}),
        ("2026-03-01T21:20:01Z", {"june.txt"}),
        ("2026-07", set()),
    ],
)
async def test_every_form_of_since_is_read_as_utc(
    palace: Store, workers: Scheduler, tmp_path: Path, since: str, filed: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    root = tmp_path / "tree"
    put(root / "march.txt", "march", mtime=MARCH)
    put(root / "june.txt", "june", mtime=JUNE)
    await mine(root, options={"since": since})
    assert set(await filed_texts(palace, root)) == filed
