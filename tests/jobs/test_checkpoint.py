"""Checkpoint jobs: every item is filed where its destination says, once, and told of."""

from __future__ import annotations

from typing import Any

import pytest

from jobs import services
from jobs.domain.checkpoint import CheckpointItem, drawer_id
from jobs.domain.job import Job, Priority, Status
from jobs.errors import FactsUnavailable
from palace import services as palace_services
from palace.domain.modes import Caller, MemoryMode
from palace.errors import InvalidInput, ModeForbidden, PathInvalid
from palace.store import Store
from palace.store.changes import read_changes
from palace.store.drawers import count_drawers
from tests.jobs.support import StartScheduler, settled, told_of

CALLER = Caller(requested_by="an agent")


def item(content: str, destination: str = "general", **more: Any) -> CheckpointItem:
    return CheckpointItem(destination, content, (), "manual", **more)


async def filed(start_scheduler: StartScheduler, *items: CheckpointItem) -> Job:
    await start_scheduler()
    return await settled((await services.submit_checkpoint(CALLER, items)).id)


async def test_each_destination_has_its_place_unless_the_item_names_a_wing(start_scheduler: StartScheduler) -> None:
    done = await filed(
        start_scheduler,
        *(item(f"of {destination}", destination) for destination in ("preference", "project", "diary", "general")),
        item("elsewhere", "project", wing="apollo"),
        item("my day", "diary", wing="apollo"),
    )
    assert (done.status, done.result) == (Status.COMPLETED, {"items": 6, "duplicates": 0})
    assert (done.checkpoint, done.progress.current, done.progress.total) == ({"next_index": 6, "duplicates": 0}, 6, 6)
    wings = {wing.name: wing for wing in await palace_services.list_wings(CALLER)}
    rooms = {name: [(room.name, room.drawers) for room in await palace_services.list_rooms(CALLER, name)] for name in wings}
    assert rooms == {
        "preferences": [("entries", 1)],
        "projects": [("entries", 1)],
        "diary": [("diary", 1)],
        "general": [("entries", 1)],
        "apollo": [("diary", 1), ("entries", 1)],
    }


async def test_a_drawer_says_where_it_comes_from(start_scheduler: StartScheduler) -> None:
    wanted = CheckpointItem("general", " te\u2028xt \r\n", ("b", "a", "b"), "transcript", "file:///t", "ada", name="a/b")
    unknown = CheckpointItem("general", "other", (), "telepathy")
    done = await filed(start_scheduler, wanted, unknown)
    drawer = await palace_services.show_drawer(CALLER, "general", "entries", "a/b")
    assert (drawer.content, drawer.tags) == (" te\u2028xt \r\n", ("b", "a", "b"))
    assert (drawer.source.kind, drawer.source.uri, drawer.source.agent) == ("transcript", "file:///t", "ada")
    assert (drawer.requested_by, drawer.job_id, drawer.id) == ("an agent", done.id, drawer_id(done.id, 0))
    other = await palace_services.show_drawer(CALLER, "general", "entries", drawer_id(done.id, 1))
    assert (other.source.kind, other.name) == ("other", None)
    assert done.params["payload"]["items"][1]["source"]["kind"] == "telepathy"


def test_the_id_of_an_item_never_changes() -> None:
    """Stored state: with another rule a replay would store everything a second time."""
    assert drawer_id("0b6f2c1e-4a5d-4c3b-8e7f-112233445566", 3) == "6c4966ca-78c1-50a1-b1be-3201fa7acf49"


async def test_duplicates_are_counted_and_not_stored(palace: Store, start_scheduler: StartScheduler) -> None:
    await palace_services.create_drawer(CALLER, "general", "entries", "there already")
    done = await filed(
        start_scheduler,
        item("new"),
        item("there already"),
        item("new"),
        item("new", wing="another"),
        item("new", name="named"),
        item("new", name="named"),
    )
    assert done.result == {"items": 6, "duplicates": 3}
    assert await count_drawers(palace) == 4


async def test_a_taken_name_fails_the_job_and_what_came_before_stays(palace: Store, start_scheduler: StartScheduler) -> None:
    mine, _ = await palace_services.create_drawer(CALLER, "general", "entries", "mine", "n")
    failed = await filed(start_scheduler, item("first"), item("second", name="n"), item("third"))
    assert (failed.status, failed.result) == (Status.FAILED, None)
    assert failed.error == "the room 'entries' holds other content under the name 'n'"
    assert failed.checkpoint == {"next_index": 1, "duplicates": 0}
    assert await count_drawers(palace) == 2
    await palace_services.delete_drawer(CALLER, "general", "entries", mine.id)
    await services.retry(failed.id)
    done = await settled(failed.id, Status.COMPLETED)
    assert (done.result, await count_drawers(palace)) == ({"items": 3, "duplicates": 0}, 3)


async def test_an_item_and_the_position_of_the_job_are_one_transaction(palace: Store, start_scheduler: StartScheduler) -> None:
    done = await filed(start_scheduler, item("one"), item("one"), item("two"))
    told = [[entry["kind"] for entry in stamped.entries] for stamped in await read_changes(palace, 0)]
    assert [sorted(kinds) for kinds in told if "drawer" in kinds] == [["drawer", "job", "room", "wing"], ["drawer", "job"]]
    # Created, claimed, a step for each item, completed.
    assert len(await told_of(done.id)) == 6


async def test_an_emergency_comes_before_everything(palace: Store) -> None:
    plain = await services.submit_checkpoint(CALLER, [item("a")])
    urgent = await services.submit_checkpoint(CALLER, [item("a")], emergency=True)
    assert (plain.priority, urgent.priority) == (Priority.HIGH, Priority.CRITICAL)
    assert plain.writes_palace
    for emergency, operation in ((False, "checkpoint"), (True, "emergency_checkpoint")):
        with pytest.raises(ModeForbidden, match=f"^{operation} "):
            await services.submit_checkpoint(Caller(MemoryMode.READ_ONLY), [], emergency=emergency)


REFUSED: list[tuple[list[CheckpointItem], type[Exception], str]] = [
    ([], InvalidInput, "^payload: items is empty"),
    ([item("a"), item(" \n\t")], InvalidInput, r"^payload: items\[1\].content: it is blank"),
    ([item("a\0b")], InvalidInput, r"items\[0\].content: .*NUL"),
    ([CheckpointItem("general", "a", ("a", "\0"), "note")], InvalidInput, r"items\[0\].tags\[1\]: .*NUL"),
    ([CheckpointItem("general", "a", (), "note", "\0")], InvalidInput, r"items\[0\].source.uri: .*NUL"),
    ([CheckpointItem("general", "a", (), "note", None, "\0")], InvalidInput, r"items\[0\].source.agent: .*NUL"),
    ([item("a", name="../x")], PathInvalid, "'../x'"),
    ([item("a"), item("b", name="")], PathInvalid, "empty"),
    ([item("a", wing="a/b")], PathInvalid, "'a/b'"),
    ([item("a", wing="")], PathInvalid, "empty"),
    ([item("a", wing="8d8ac610-566d-4ef0-9c22-186b2a5ed793")], PathInvalid, "UUID"),
    ([item("a"), item("b", fact={"op": "add"})], FactsUnavailable, r"^items\[1\] carries a fact.*nothing was stored"),
]


@pytest.mark.parametrize(("items", "error", "message"), REFUSED)
async def test_what_cannot_be_filed_is_refused_without_a_job(
    palace: Store, items: list[CheckpointItem], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        await services.submit_checkpoint(CALLER, items)
    assert await services.list_jobs(CALLER) == []


async def test_a_wing_with_an_odd_old_name_takes_items(palace: Store, start_scheduler: StartScheduler) -> None:
    wing, _ = await palace_services.create_wing(CALLER, "odd")
    await palace.query("UPDATE type::record('wing', $id) SET name = 'odd/one'", id=wing.id)
    assert (await filed(start_scheduler, item("a", wing="odd/one"))).status is Status.COMPLETED
    assert [found.drawers for found in await palace_services.list_wings(CALLER)] == [1]
