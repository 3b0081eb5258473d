from __future__ import annotations

import pytest

from jobs import services, store
from jobs.conf import JobsConfig
from jobs.errors import JobNotFound
from palace.clock import now
from palace.configuration import overridden
from palace.domain.clock import add_seconds
from palace.domain.modes import Caller
from palace.store import Store
from tests.jobs.support import left_running, told_of

CALLER = Caller()
DAY = 86_400


async def ended(days: float, status: str = "completed", **columns: object) -> str:
    """The id of a job that ended so many days ago."""
    at = add_seconds(now(), -days * DAY)
    return (await left_running(status=status, lease_owner=None, lease_expires_at=None, completed_at=at, **columns)).id


async def kept() -> set[str]:
    return {job.id for job in await services.list_jobs(CALLER)}


async def test_finished_jobs_go_when_they_are_old_enough(palace: Store) -> None:
    old = {await ended(91, status) for status in ("completed", "failed", "cancelled")}
    recent = {await ended(89, status) for status in ("completed", "failed", "cancelled")}
    assert await services.remove_aged() == 3
    assert await kept() == recent
    for job_id in old:
        with pytest.raises(JobNotFound):
            await services.get_job(CALLER, job_id)
        assert await store.read_log(palace, job_id) == []
        assert (await told_of(job_id))[-1][0] == "deleted"
    assert await services.remove_aged() == 0


async def test_a_job_that_has_not_ended_is_kept_however_old_it_is(palace: Store) -> None:
    ancient = add_seconds(now(), -4000 * DAY)
    jobs = {(await left_running(created_at=ancient, status=status)).id for status in ("queued", "running", "paused")}
    assert await services.remove_aged() == 0
    assert await kept() == jobs


async def test_how_long_is_a_setting(palace: Store) -> None:
    await ended(3)
    with overridden(JobsConfig(keep_days=0)):
        assert await services.remove_aged() == 0
    with overridden(JobsConfig(keep_days=2)):
        assert await services.remove_aged() == 1


async def test_many_go_in_bounded_transactions(palace: Store) -> None:
    young = await ended(1)
    for _ in range(store.retention.BATCH_JOBS + 5):
        await ended(100)
    assert await services.remove_aged() == store.retention.BATCH_JOBS + 5
    assert await kept() == {young}


async def test_an_audit_goes_on_knowing_a_removed_job(palace: Store) -> None:
    writer, reader = await ended(100, writes_palace=True), await ended(100)
    room = "0b6ab7e6-8a3b-4ce6-a35f-44f3d2b2f4a8"
    for job_id in (writer, reader):
        await palace.query(
            """CREATE drawer SET room = $room, content = 'text', content_hash = '', words = 'text', source = { kind: 'file' },
               tags = [], provenance = { requested_by: 'test', job_id: $job },
               valid_from = '', created_at = '', updated_at = ''""",
            room=room,
            job=job_id,
        )
    await services.remove_aged()
    page = await store.audit.drawer_page(palace, store.audit.BEFORE_ALL)
    assert {drawer.job: drawer.job_exists for drawer in page} == {writer: True, reader: False}
