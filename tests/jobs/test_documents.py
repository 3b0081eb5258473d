from __future__ import annotations

from dataclasses import replace

import pytest

from jobs import store
from jobs.domain.job import Complete, Priority, Progress, apply
from palace.clock import now
from palace.domain.clock import add_seconds
from palace.errors import SerializationFailed
from palace.store import Store
from tests.jobs.support import job, submit

VALUES = {
    "none": None,
    "nested": {"none": None, "list": [1, None, {"none": None}]},
    "empty": {},
    "": "a key without a name",
    "looks like a record": "job:1",
    "looks like a date": "2026-01-01T00:00:00Z",
    "number": 2**53 + 1,
    "fraction": 0.1 + 0.2,
    "text": '线\u0000\u2028"\\😀',
    "yes": True,
}


async def test_parameters_checkpoint_progress_and_result_come_back_as_they_went_in(palace: Store) -> None:
    submitted = await submit("demo", VALUES)
    assert (await job(submitted.id)) == submitted
    assert (await job(submitted.id)).params == VALUES
    at = now()
    claimed = await store.claim(palace, "worker", at, add_seconds(at, 30), allow_background=True)
    assert claimed is not None
    await store.save_checkpoint(palace, claimed, "worker", VALUES, Progress(1, None, None), at, add_seconds(at, 60))
    saved = await job(submitted.id)
    assert (saved.checkpoint, saved.progress) == (VALUES, Progress(1))
    assert saved.lease_expires_at == add_seconds(at, 60)
    await store.transition(palace, saved, apply(saved, Complete(VALUES), at), at)
    assert (await job(submitted.id)).result == VALUES


async def test_a_checkpoint_of_none_keeps_the_old_one(palace: Store) -> None:
    submitted = await submit("demo", {"steps": 1})
    at = now()
    claimed = await store.claim(palace, "worker", at, add_seconds(at, 30), allow_background=True)
    assert claimed is not None
    for checkpoint in ({"step": 1}, None):
        await store.save_checkpoint(palace, claimed, "worker", checkpoint, Progress(1), at, add_seconds(at, 30))
    assert (await job(submitted.id)).checkpoint == {"step": 1}


@pytest.mark.parametrize("value", [object(), float("nan"), "\ud800"], ids=["object", "nan", "surrogate"])
async def test_what_is_no_json_is_refused_before_anything_is_written(palace: Store, value: object) -> None:
    with pytest.raises(SerializationFailed):
        await submit("demo", {"value": value})
    assert await store.list_jobs(palace) == []


async def test_priority_of_a_submission_overrides_that_of_its_kind(palace: Store) -> None:
    submitted = await submit("demo", {"steps": 1}, priority=Priority.CRITICAL)
    assert await job(submitted.id) == replace(submitted, priority=Priority.CRITICAL)
