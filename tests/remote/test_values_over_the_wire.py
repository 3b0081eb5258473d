"""A database on a server answers with the same values, and the same Python types, as one in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from palace.errors import StoreFailed
from palace.store import Fragment, RecordExists, Store, TransactionRefused, open_embedded
from tests.remote.support import Host, connected

QUERIES = (
    "RETURN [NONE, NULL, true, 1, -9223372036854775807, 1.5, 12.5dec, 'text', b'00ff'];",
    "RETURN [d'2026-11-30T22:40:48.945124001Z', 1h30m, 0ns, u'018f5a0e-0000-7000-8000-000000000000'];",
    "RETURN { record: wing:one, range: 1..5, point: (1.0, 2.0), set: <set>[1, 2], nested: [{ a: [NONE] }] };",
    "CREATE value:one CONTENT { bytes: <bytes>'abc', at: time::from_unix(0), gone: NONE, null: NULL } RETURN AFTER;",
    "SELECT * FROM ONLY value:missing;",
    "SELECT * FROM value WHERE nothing = NONE;",
    "UPDATE value:one SET n = 1 RETURN NONE;",
    "LET $x = 1; RETURN $x + 1;",
    "INFO FOR DB;",
    "DELETE value:one RETURN BEFORE;",
)
BOUND: tuple[Any, ...] = (None, True, 1, 1.5, "text", "\U0001f3f0 ünï", b"\x00\xff", [1, None, {"a": []}], {"k": {"n": None}})


def shape(value: Any) -> Any:
    """A value with the types of everything in it."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value), repr(value)


async def test_every_kind_of_value_comes_back_alike(host: Host, tmp_path: Path) -> None:
    near = await open_embedded(tmp_path / "db")
    await near.query("DEFINE TABLE value SCHEMALESS;")
    async with connected(host.server(database="values")) as far:
        await far.query("DEFINE TABLE value SCHEMALESS;")
        for sql in QUERIES:
            assert shape(await near.query(sql)) == shape(await far.query(sql)), sql
        for value in BOUND:
            answers = [await store.first("RETURN { it: $it, kind: type::of($it) };", it=value) for store in (near, far)]
            assert shape(answers[0]) == shape(answers[1]), value
    await near.close()


async def failures(store: Store) -> list[tuple[type[Exception], str]]:
    found: list[tuple[type[Exception], str]] = []
    await store.query("DEFINE TABLE OVERWRITE once SCHEMALESS; DEFINE INDEX OVERWRITE name ON once FIELDS name UNIQUE;")
    await store.query("DELETE once; CREATE once:a SET name = 'a';")
    for sql in (
        "THROW 'on purpose';",
        "SELEC nonsense;",
        "CREATE once:a SET name = 'b';",
        "CREATE once SET name = 'a';",
        "RETURN 1 + 'x';",
        "SELECT * FROM nowhere;",
    ):
        for attempt in (store.query(sql), store.transact(Fragment("CREATE once SET name = rand::ulid();"), Fragment(sql))):
            with pytest.raises((StoreFailed, TransactionRefused)) as failed:
                await attempt
            found.append((type(failed.value), str(failed.value)))
    assert await store.first("SELECT VALUE name FROM once;") == ["a"]
    return found


async def test_failures_are_told_apart_alike_and_leave_nothing(host: Host, tmp_path: Path) -> None:
    near = await open_embedded(tmp_path / "db")
    async with connected(host.server(database="failures")) as far:
        expected = await failures(near)
        assert await failures(far) == expected
    assert {kind for kind, _ in expected} == {TransactionRefused, RecordExists, StoreFailed}
    await near.close()


async def test_values_of_many_megabytes_go_both_ways(host: Host) -> None:
    text = "castle " * 700_000
    async with connected(host.server(database="large")) as far:
        await far.query("DEFINE TABLE large SCHEMALESS; CREATE large:one SET text = $text;", text=text)
        rows = await far.first("RETURN [1, 2, 3, 4].map(|$i| (SELECT VALUE text FROM ONLY large:one));")
    assert [len(row) for row in rows] == [len(text)] * 4
