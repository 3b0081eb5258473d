from __future__ import annotations

import asyncio

import pytest

from palace import services
from palace.clock import now
from palace.domain.clock import add_seconds
from palace.domain.drawer import Drawer
from palace.domain.modes import Caller, MemoryMode
from palace.errors import DrawerNotFound, DrawerSuperseded, InvalidInput, ModeForbidden
from palace.store import Store
from palace.store.changes import read_changes

CALLER = Caller(requested_by="test")
UNKNOWN = "8d8ac610-566d-4ef0-9c22-186b2a5ed793"


async def stored(text: str = "the port is 8080", **options: str) -> Drawer:
    drawer, created = await services.create_drawer(CALLER, "w", "r", text, **options)
    assert created
    return drawer


async def shown(drawer_id: str) -> Drawer:
    return (await services.history(CALLER, drawer_id)).versions[-1]


async def test_a_correction_ends_the_old_text_where_the_new_one_begins(palace: Store) -> None:
    old = await stored(name="ports")
    done = await services.supersede(CALLER, old.id, "the port is 8081", ["net"])
    assert done.replacement is not None
    versions = (await services.history(CALLER, old.id)).versions
    assert versions == (done.superseded, done.replacement)
    first, second = versions
    assert (first.content, second.content) == ("the port is 8080", "the port is 8081")
    assert first.valid_to == second.valid_from
    assert (first.superseded_by, second.supersedes) == (second.id, first.id)
    assert (first.name, second.name) == (None, "ports")
    assert (second.room, second.tags, second.valid_to) == (first.room, ("net",), None)
    assert first.updated_at == first.ended_at == second.created_at


async def test_an_invalidated_drawer_has_no_successor_and_keeps_its_text(palace: Store) -> None:
    old = await stored(name="ports")
    done = await services.supersede(CALLER, old.id)
    assert done.replacement is None
    ended = await shown(old.id)
    assert ended == done.superseded
    assert (ended.content, ended.name, ended.superseded_by) == (old.content, None, None)
    assert ended.valid_to is not None
    again, created = await services.create_drawer(CALLER, "w", "r", old.content, "ports")
    assert created
    assert again.id != old.id


async def test_tags_and_agent_are_handed_over(palace: Store) -> None:
    old = await stored()
    tagged = (await services.supersede(CALLER, old.id, "one", ["a", "b"])).replacement
    assert tagged is not None
    kept = (await services.supersede(CALLER, tagged.id, "two")).replacement
    cleared = (await services.supersede(CALLER, kept.id, "three", [])).replacement  # type: ignore[union-attr]
    assert kept is not None
    assert cleared is not None
    assert (kept.tags, cleared.tags) == (("a", "b"), ())


async def test_history_is_the_same_from_every_version(palace: Store) -> None:
    ids = [(await stored("version 0")).id]
    for number in range(1, 6):
        replacement = (await services.supersede(CALLER, ids[-1], f"version {number}")).replacement
        assert replacement is not None
        ids.append(replacement.id)
    for asked in ids:
        found = await services.history(CALLER, asked)
        assert found.drawer == asked
        assert [version.id for version in found.versions] == ids
        assert [version.content for version in found.versions] == [f"version {number}" for number in range(6)]
    for earlier, later in zip(found.versions, found.versions[1:], strict=False):
        assert earlier.valid_to == later.valid_from


async def test_history_ends_at_a_deleted_version(palace: Store) -> None:
    first = await stored("one")
    second = (await services.supersede(CALLER, first.id, "two")).replacement
    assert second is not None
    third = (await services.supersede(CALLER, second.id, "three")).replacement
    assert third is not None
    await services.delete_drawer(CALLER, "w", "r", second.id)
    assert [version.id for version in (await services.history(CALLER, first.id)).versions] == [first.id]
    assert [version.id for version in (await services.history(CALLER, third.id)).versions] == [third.id]


async def test_what_has_ended_cannot_be_ended_again(palace: Store) -> None:
    old = await stored()
    await services.supersede(CALLER, old.id, "the port is 8081")
    before = (await services.history(CALLER, old.id)).versions
    with pytest.raises(DrawerSuperseded):
        await services.supersede(CALLER, old.id, "the port is 8082")
    with pytest.raises(DrawerSuperseded):
        await services.supersede(CALLER, old.id)
    assert (await services.history(CALLER, old.id)).versions == before


@pytest.mark.parametrize("content", ["", " \n", "a\0b"])
async def test_an_unusable_replacement_changes_nothing(palace: Store, content: str) -> None:
    old = await stored()
    with pytest.raises(InvalidInput, match="content"):
        await services.supersede(CALLER, old.id, content)
    assert await shown(old.id) == old


async def test_unknown_drawers_and_modes_are_refused(palace: Store) -> None:
    with pytest.raises(DrawerNotFound):
        await services.supersede(CALLER, UNKNOWN, "text")
    with pytest.raises(DrawerNotFound):
        await services.history(CALLER, UNKNOWN)
    with pytest.raises(InvalidInput, match="id: 'nonsense'"):
        await services.supersede(CALLER, "nonsense", "text")
    with pytest.raises(ModeForbidden, match="drawer_supersede"):
        await services.supersede(Caller(MemoryMode.READ_ONLY), UNKNOWN, "text")
    with pytest.raises(ModeForbidden, match="history"):
        await services.history(Caller(MemoryMode.DISABLED), UNKNOWN)


async def test_sixteen_corrections_at_once_make_one_straight_chain(palace: Store) -> None:
    drawers = [await stored(f"fact {number}") for number in range(4)]
    outcomes = await asyncio.gather(
        *(services.supersede(CALLER, drawers[n % 4].id, f"correction {n}") for n in range(16)), return_exceptions=True
    )
    won = [outcome for outcome in outcomes if isinstance(outcome, services.Supersession)]
    assert len(won) == 4
    assert all(isinstance(outcome, DrawerSuperseded) for outcome in outcomes if outcome not in won)
    for drawer in drawers:
        chain = (await services.history(CALLER, drawer.id)).versions
        assert [len(chain), chain[0].id] == [2, drawer.id]
        assert chain[0].valid_to == chain[1].valid_from


async def test_both_drawers_are_announced_in_one_transaction(palace: Store) -> None:
    old = await stored()
    done = await services.supersede(CALLER, old.id, "the port is 8081")
    assert done.replacement is not None
    last = (await read_changes(palace, 0))[-1].entries
    assert [(entry["kind"], entry["action"], entry["id"]) for entry in last] == [
        ("drawer", "updated", old.id),
        ("drawer", "created", done.replacement.id),
    ]


async def test_a_correction_may_say_when_it_became_true(palace: Store) -> None:
    began, changed = "2026-01-01T00:00:00.000000000Z", "2026-03-01T00:00:00.000000000Z"
    old = await stored(valid_from="2026-01-01")
    done = await services.supersede(CALLER, old.id, "the port is 8081", valid_from="2026-03-01")
    assert done.replacement is not None
    first, second = (await services.history(CALLER, old.id)).versions
    assert (first.valid_from, first.valid_to, second.valid_from) == (began, changed, changed)
    assert first.ended_at == second.created_at > "2026-03-02"


@pytest.mark.parametrize("valid_from", ["2025-12-31", "2026-01-01", "tomorrow"])
async def test_a_correction_begins_after_what_it_corrects(palace: Store, valid_from: str) -> None:
    old = await stored(valid_from="2026-01-01")
    with pytest.raises(InvalidInput, match="valid_from"):
        await services.supersede(CALLER, old.id, "the port is 8081", valid_from=valid_from)
    assert await shown(old.id) == old


async def test_nothing_is_true_from_the_future_on(palace: Store) -> None:
    soon = add_seconds(now(), 60)
    with pytest.raises(InvalidInput, match="future"):
        await services.create_drawer(CALLER, "w", "r", "text", valid_from=soon)
    old = await stored()
    with pytest.raises(InvalidInput, match="future"):
        await services.supersede(CALLER, old.id, "text", valid_from=soon)
    assert await shown(old.id) == old
