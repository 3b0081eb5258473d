"""A store that fails is never answered with success, and leaves nothing half written."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from palace import services as memory
from palace.domain.modes import Caller
from palace.errors import StoreFailed
from palace.store import Fragment, Store, open_embedded

CALLER = Caller(requested_by="test")
TABLES = ("palace", "wing", "room", "drawer", "change")


async def rows(palace: Store) -> dict[str, int]:
    return {table: len(await palace.first(f"SELECT VALUE id FROM {table};")) for table in TABLES}


async def test_a_write_that_fails_is_an_error_with_a_code_and_leaves_nothing(
    palace: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last statement of the transaction fails, after wing, room and drawer were created in it."""
    before = await rows(palace)
    real = Store.transact

    async def failing(self: Store, *fragments: Fragment) -> None:
        await real(self, *fragments, Fragment("CREATE drawer CONTENT { nonsense: true };"))

    with monkeypatch.context() as patched:
        patched.setattr(Store, "transact", failing)
        with pytest.raises(StoreFailed) as failed:
            await memory.create_drawer(CALLER, "new wing", "new room", "a text")
    assert failed.value.body()["code"] == "memcastle::store::backend_failed"
    assert await rows(palace) == before
    _, created = await memory.create_drawer(CALLER, "new wing", "new room", "a text")
    assert created


async def test_a_deletion_that_fails_takes_nothing_away(palace: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        await memory.create_drawer(CALLER, "wing", "room", f"text {number}")
    before = await rows(palace)
    real = Store.transact

    async def failing(self: Store, *fragments: Fragment) -> None:
        await real(self, *fragments, Fragment("CREATE drawer CONTENT { nonsense: true };"))

    with monkeypatch.context() as patched:
        patched.setattr(Store, "transact", failing)
        with pytest.raises(StoreFailed):
            await memory.delete_wing(CALLER, "wing")
    assert await rows(palace) == before
    assert (await memory.delete_wing(CALLER, "wing")).drawers == 5


async def test_a_store_that_is_gone_fails_every_write(palace: Store) -> None:
    await palace.close()
    with pytest.raises(StoreFailed):
        await memory.create_drawer(CALLER, "wing", "room", "text")


async def test_the_lock_of_the_palace_is_let_go_on_every_path(tmp_path: Path) -> None:
    """Opened, refused to a second opener, closed, and opened again, over and over in one process."""
    directory = tmp_path / "db"
    for _ in range(3):
        first = await open_embedded(directory)
        with pytest.raises(StoreFailed) as refused:
            await open_embedded(directory)
        assert "in use by another process" in refused.value.message
        assert "daemon stop" in refused.value.help
        await asyncio.gather(*(first.query("CREATE note CONTENT { text: 'x' };") for _ in range(3)))
        await first.close()
    reopened = await open_embedded(directory)
    assert len(await reopened.first("SELECT * FROM note;")) == 9
    await reopened.close()
