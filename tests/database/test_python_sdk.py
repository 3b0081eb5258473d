"""SurrealDB's SDK for Python as a client, both of its kinds."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from surrealdb import AsyncSurreal, RecordID, Surreal, Table
from surrealdb.errors import AlreadyExistsError, NotAllowedError, SurrealError

from tests.database.support import TOKEN, Endpoint

CREDENTIALS: dict[str, Any] = {"username": "memcastle", "password": "memcastle"}


@pytest.fixture
async def sdk(endpoint: Endpoint) -> AsyncIterator[Any]:
    async with AsyncSurreal(endpoint.url) as connection:
        await connection.signin(CREDENTIALS)
        await connection.use("memcastle", "sdk")
        yield connection


@pytest.fixture
def blocking(endpoint: Endpoint) -> Iterator[Any]:
    with Surreal(endpoint.url) as connection:
        connection.signin(CREDENTIALS)
        connection.use("memcastle", "sdk_blocking")
        yield connection


async def test_query_with_variables_keeps_every_type(sdk: Any) -> None:
    given = {
        "text": "Grüße",
        "number": 2**62,
        "ratio": 0.1,
        "exact": decimal.Decimal("1.10"),
        "id": uuid.uuid4(),
        "record": RecordID("thing", ["a", 1]),
        "nothing": None,
        "bytes": b"\x00\xff",
        "at": datetime.datetime(2026, 2, 3, 4, 5, 6, 789000, tzinfo=datetime.UTC),
        "list": [1, [2, {"three": 3}]],
    }
    assert await sdk.query("RETURN $given", {"given": given}) == [given]


async def test_transaction_in_one_raw_query(sdk: Any) -> None:
    answer = await sdk.query_raw("BEGIN; CREATE step:1 SET n = $n; CREATE step:2; COMMIT;", {"n": 1})
    assert [entry["status"] for entry in answer["result"]] == ["OK"] * 4
    answer = await sdk.query_raw("BEGIN; CREATE step:3; THROW 'no'; COMMIT;", {})
    assert {entry["kind"] for entry in answer["result"] if entry["status"] == "ERR"} == {"Query", "Thrown"}
    assert len((await sdk.query("SELECT * FROM step"))[0]) == 2


async def test_records_are_created_changed_and_deleted(sdk: Any) -> None:
    ann = RecordID("person", "ann")
    assert await sdk.create(ann, {"age": 1}) == {"id": ann, "age": 1}
    assert await sdk.select(ann) == {"id": ann, "age": 1}
    assert await sdk.update(ann, {"age": 2}) == {"id": ann, "age": 2}
    assert await sdk.update(ann).merge({"city": "Ghent"}) == {"id": ann, "age": 2, "city": "Ghent"}
    patched = await sdk.update(ann).patch([{"op": "replace", "path": "/age", "value": 3}])
    assert patched == {"id": ann, "age": 3, "city": "Ghent"}
    assert await sdk.upsert(RecordID("person", "bob"), {"age": 9}) == {"id": RecordID("person", "bob"), "age": 9}
    assert len(await sdk.insert(Table("person"), [{"id": 1}, {"id": 2}])) == 2
    assert len(await sdk.select(Table("person"))) == 4
    await sdk.delete(ann)
    assert await sdk.select(ann) is None


async def test_relations(sdk: Any) -> None:
    await sdk.insert("town", [{"id": "a"}, {"id": "b"}])
    a, b = RecordID("town", "a"), RecordID("town", "b")
    [edges] = await sdk.query("RELATE $a->road->$b SET length = 5", {"a": a, "b": b})
    assert edges[0]["in"] == a
    assert await sdk.query("SELECT VALUE ->road->town FROM ONLY town:a") == [[b]]


async def test_functions_session_variables_and_version(sdk: Any) -> None:
    assert await sdk.run("string::uppercase", ["a"]) == "A"
    await sdk.let("limit", 7)
    assert await sdk.query("RETURN $limit") == [7]
    await sdk.unset("limit")
    assert await sdk.query("RETURN $limit") == [None]
    assert (await sdk.version()).startswith("surrealdb-")


async def test_sessions_of_one_connection_are_apart(sdk: Any) -> None:
    session = await sdk.new_session()
    await session.use("memcastle", "elsewhere")
    await session.let("mine", 1)
    assert await session.query("RETURN [session::db(), $mine]") == [["elsewhere", 1]]
    assert await sdk.query("RETURN [session::db(), $mine]") == [["sdk", None]]
    await session.close_session()


async def test_errors_have_their_own_classes(sdk: Any) -> None:
    await sdk.query("CREATE taken:1")
    with pytest.raises(AlreadyExistsError):
        await sdk.query("CREATE taken:1")
    with pytest.raises(SurrealError, match="Parse error"):
        await sdk.query("FROM nowhere")
    with pytest.raises(NotAllowedError):
        await sdk.begin()
    with pytest.raises(SurrealError, match="realtime"):
        await sdk.live("taken")
    with pytest.raises(NotAllowedError):
        await sdk.signin({"username": "memcastle", "password": "wrong"})
    assert await sdk.query("RETURN 1") == [1]


async def test_many_queries_at_once_on_one_connection(sdk: Any) -> None:
    answers = await asyncio.gather(*(sdk.query("RETURN $n", {"n": number}) for number in range(300)))
    assert list(answers) == [[number] for number in range(300)]


@pytest.mark.filterwarnings("ignore:connect.. must be used as a context manager:DeprecationWarning")
def test_blocking_kind(blocking: Any) -> None:
    record = RecordID("thing", 1)
    assert blocking.create(record, {"a": 1}) == {"id": record, "a": 1}
    assert blocking.query("SELECT VALUE a FROM thing WHERE a = $a", {"a": 1}).execute() == [[1]]
    assert blocking.update(record).merge({"b": 2}) == {"id": record, "a": 1, "b": 2}
    raw = blocking.query_raw("BEGIN; UPDATE thing:1 SET a = 2; COMMIT;", {})
    assert [entry["status"] for entry in raw["result"]] == ["OK", "OK", "OK"]
    blocking.delete(record).execute()
    assert list(blocking.select(Table("thing"))) == []
    with pytest.raises(NotAllowedError):
        blocking.signin({"username": "somebody", "password": "memcastle"})


async def test_token_as_password_and_its_replay_in_further_sessions(guarded: Endpoint) -> None:
    async with AsyncSurreal(guarded.url) as connection:
        with pytest.raises(NotAllowedError):
            await connection.query("RETURN 1")
        with pytest.raises(NotAllowedError):
            await connection.signin(CREDENTIALS)
        tokens = await connection.signin({"username": "memcastle", "password": TOKEN})
        assert TOKEN not in str(tokens.access)
        session = await connection.new_session()
        assert await session.query("RETURN 2") == [2]
    async with AsyncSurreal(guarded.url) as another:
        await another.authenticate(str(tokens.access))
        assert await another.query("RETURN 3") == [3]
