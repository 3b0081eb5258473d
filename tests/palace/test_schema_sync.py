"""The database's definitions follow the schema files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from palace.errors import SchemaSyncFailed
from palace.store import Store, open_embedded
from palace.store.schema import read_definitions, sync_schema


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_embedded(tmp_path / "bare")
    yield store
    await store.close()


def schema(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "tables.surql").write_text(text, encoding="utf-8")
    return folder


TABLE = "DEFINE TABLE thing SCHEMAFULL;\nDEFINE FIELD name ON thing TYPE string;\n"


async def test_an_unchanged_schema_is_not_applied_again(bare: Store, tmp_path: Path) -> None:
    definitions = read_definitions([schema(tmp_path / "s", TABLE)])
    assert await sync_schema(bare, definitions) == ("TABLE thing", "FIELD name ON thing")
    assert await sync_schema(bare, definitions) == ()


async def test_comments_and_layout_do_not_count_as_change(bare: Store, tmp_path: Path) -> None:
    await sync_schema(bare, read_definitions([schema(tmp_path / "s", TABLE)]))
    spaced = "-- what it is\n" + TABLE.replace(" ON ", "\n    ON ")
    assert await sync_schema(bare, read_definitions([schema(tmp_path / "s", spaced)])) == ()


async def test_only_the_changed_definition_is_applied_and_rows_stay(bare: Store, tmp_path: Path) -> None:
    await sync_schema(bare, read_definitions([schema(tmp_path / "s", TABLE)]))
    await bare.query("CREATE thing:one SET name = 'kept';")
    wider = TABLE.replace("TYPE string", "TYPE string | int")
    assert await sync_schema(bare, read_definitions([schema(tmp_path / "s", wider)])) == ("FIELD name ON thing",)
    assert await bare.first("SELECT VALUE name FROM thing;") == ["kept"]


async def test_a_definition_that_disappeared_is_removed(bare: Store, tmp_path: Path) -> None:
    index = "DEFINE INDEX by_name ON thing FIELDS name UNIQUE;\n"
    await sync_schema(bare, read_definitions([schema(tmp_path / "s", TABLE + index)]))
    assert await sync_schema(bare, read_definitions([schema(tmp_path / "s", TABLE)])) == ("INDEX by_name ON thing",)
    await bare.query("CREATE thing SET name = 'twice'; CREATE thing SET name = 'twice';")


async def test_a_table_that_holds_rows_is_never_removed(bare: Store, tmp_path: Path) -> None:
    other = "DEFINE TABLE other SCHEMALESS;\n"
    await sync_schema(bare, read_definitions([schema(tmp_path / "s", TABLE + other)]))
    await bare.query("CREATE other:one SET text = 'memory';")
    await sync_schema(bare, read_definitions([schema(tmp_path / "s", TABLE)]))
    assert await bare.first("SELECT VALUE text FROM other;") == ["memory"]
    await bare.query("DELETE other;")
    assert "TABLE other" in await sync_schema(bare, read_definitions([schema(tmp_path / "s", TABLE)]))


async def test_a_wrong_definition_changes_nothing(bare: Store, tmp_path: Path) -> None:
    broken = read_definitions([schema(tmp_path / "s", TABLE + "DEFINE FIELD size ON thing TYPE nonsense;\n")])
    with pytest.raises(SchemaSyncFailed):
        await sync_schema(bare, broken)
    assert len(await sync_schema(bare, read_definitions([schema(tmp_path / "s", TABLE)]))) == 2


def test_a_file_may_hold_definitions_only(tmp_path: Path) -> None:
    with pytest.raises(SchemaSyncFailed, match="something else"):
        read_definitions([schema(tmp_path / "s", "CREATE thing;")])


def test_the_same_definition_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaSyncFailed, match="twice"):
        read_definitions([schema(tmp_path / "s", TABLE), schema(tmp_path / "t", TABLE)])
