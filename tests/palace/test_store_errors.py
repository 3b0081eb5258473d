"""What the façade makes of the engine's answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from palace import store as stores
from palace.errors import StoreFailed
from palace.store import Fragment, RecordExists, Store, TransactionRefused, on_loop, open_embedded


async def test_a_statement_that_cannot_be_parsed_names_the_problem(palace: Store) -> None:
    with pytest.raises(StoreFailed, match="Parse error"):
        await palace.query("SELECT FROM WHERE;")


async def test_a_taken_record_id_is_told_apart_from_other_failures(palace: Store) -> None:
    await palace.query("CREATE palace:one SET name = 'a', created_at = 'b';")
    with pytest.raises(RecordExists):
        await palace.query("CREATE palace:one SET name = 'a', created_at = 'b';")


async def test_a_taken_unique_value_is_told_apart_from_other_failures(palace: Store) -> None:
    create = "CREATE wing SET palace = 'p', name = 'w', created_at = 'b';"
    await palace.query(create)
    with pytest.raises(RecordExists):
        await palace.query(create)


async def test_our_own_refusal_carries_its_reason_and_writes_nothing(palace: Store) -> None:
    with pytest.raises(TransactionRefused) as refusal:
        await palace.transact(
            Fragment("CREATE wing:kept SET palace = 'p', name = 'w', created_at = 'b';"), Fragment("THROW 'not_today';")
        )
    assert refusal.value.reason == "not_today"
    assert await palace.first("SELECT VALUE name FROM wing;") == []


async def test_a_failed_transaction_reports_its_cause_and_not_what_was_left_undone(palace: Store) -> None:
    with pytest.raises(StoreFailed, match="name"):
        await palace.transact(
            Fragment("CREATE wing SET palace = 'p', created_at = 'b';"),
            Fragment("CREATE wing SET palace = 'p', name = 'other', created_at = 'b';"),
        )
    assert await palace.first("SELECT VALUE name FROM wing;") == []


async def test_fragments_that_share_a_variable_are_refused(palace: Store) -> None:
    with pytest.raises(ValueError, match="share"):
        await palace.transact(Fragment("RETURN $x;", {"x": 1}), Fragment("RETURN $x;", {"x": 2}))


async def test_concurrent_changes_of_one_record_are_all_kept(palace: Store) -> None:
    await palace.query("CREATE migration_state:counter SET version = 0, updated_at = 'now';")
    add = "UPDATE migration_state:counter SET version += 1 RETURN NONE;"
    await asyncio.gather(*(palace.query(add) for _ in range(25)))
    assert await palace.first("SELECT VALUE version FROM ONLY migration_state:counter;") == 25


async def test_a_palace_that_is_open_cannot_be_opened_again(palace: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match="in use by another process") as refusal:
        await open_embedded(tmp_path / "palace" / "db")
    assert "daemon stop" in refusal.value.help


async def test_the_bridge_for_threads_refuses_the_loop_itself(palace: Store) -> None:
    with pytest.raises(RuntimeError, match="on the loop"):
        on_loop(palace.query("RETURN 1;"))
    assert await asyncio.to_thread(on_loop, palace.query("RETURN 1;")) == [1]


async def test_no_open_palace_is_an_error_with_words() -> None:
    stores.install(None)
    with pytest.raises(StoreFailed, match="no palace is open"):
        stores.current()


async def test_acknowledged_writes_survive_closing_and_opening(tmp_path: Path) -> None:
    first = await open_embedded(tmp_path / "db")
    await first.query("CREATE thing:one SET text = 'kept';")
    await first.close()
    second = await open_embedded(tmp_path / "db")
    assert await second.first("SELECT VALUE text FROM ONLY thing:one;") == "kept"
    await second.close()


async def test_what_cannot_wait_runs_beside_a_long_transaction(palace: Store) -> None:
    long = asyncio.create_task(palace.transact(Fragment("SLEEP 600ms; CREATE thing:slow RETURN NONE;")))
    await asyncio.sleep(0)
    await palace.transact(Fragment("CREATE thing:quick RETURN NONE;"), patience=0.05)
    assert not long.done()
    await long
    assert len(await palace.first("SELECT VALUE id FROM thing;")) == 2
