"""What becomes of queries when the connection breaks, and how it comes back."""

from __future__ import annotations

import asyncio

import pytest

from palace.errors import StoreFailed
from palace.store import Store, StoreUnreachable, open_remote
from palace.store.connection import no_time_limit
from palace.store.remote import reads_only
from tests.remote.support import Host, Wire, connected, wired
from tests.support import PATIENCE_SECONDS

SLOW_READ = "RETURN { sleep(400ms); RETURN 'read'; };"


async def again(store: Store) -> None:
    """Waits until the store answers."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                await store.query("RETURN 1;")
            except StoreUnreachable:
                continue
            return


async def sent(wire: Wire, before: int) -> None:
    """Waits until a query has gone out."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while wire.passed == before:
            await asyncio.sleep(0.005)


async def test_a_read_under_way_is_asked_again_on_the_next_connection(host: Host) -> None:
    async with wired(host) as wire, connected(host.server(wire.url)) as store:
        assert reads_only(SLOW_READ)
        before = wire.passed
        reading = asyncio.create_task(store.first(SLOW_READ))
        await sent(wire, before)
        wire.cut()
        assert await reading == "read"
        assert wire.made == 2


async def test_a_write_under_way_fails_and_is_not_repeated(host: Host) -> None:
    """Its answer is lost, not the write: repeated, it would count twice."""
    async with wired(host) as wire, connected(host.server(wire.url, database="counted")) as store:
        await store.query("DEFINE TABLE counter SCHEMALESS;")
        wire.swallowing = True
        writing = asyncio.create_task(store.query("UPSERT counter:one SET n += 1 RETURN NONE;"))
        async with connected(host.server(database="counted")) as other, asyncio.timeout(PATIENCE_SECONDS):
            while await other.first("SELECT VALUE n FROM counter;") != [1]:
                await asyncio.sleep(0.02)
        wire.cut()
        wire.swallowing = False
        with pytest.raises(StoreUnreachable, match="broke before it answered") as failed:
            await writing
        assert "look before you repeat it" in failed.value.help
        assert failed.value.status == 503
        await again(store)
        assert await store.first("SELECT VALUE n FROM counter;") == [1]


async def test_a_write_that_was_not_sent_goes_out_on_the_next_connection(host: Host) -> None:
    async with wired(host) as wire, connected(host.server(wire.url, database="unsent")) as store:
        await store.query("DEFINE TABLE counter SCHEMALESS;")
        wire.cut()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while store._handle._link is not None:
                await asyncio.sleep(0.001)
        await store.query("UPSERT counter:one SET n += 1 RETURN NONE;")
        assert await store.first("SELECT VALUE n FROM counter;") == [1]


async def test_a_new_connection_is_signed_in_and_at_the_palace(host: Host) -> None:
    async with wired(host) as wire, connected(host.server(wire.url, database="elsewhere")) as store:
        for made in range(2, 5):
            wire.cut()
            await again(store)
            assert await store.query("RETURN [session::ns(), session::db()];") == [["memcastle", "elsewhere"]]
            assert wire.made == made


async def test_without_a_server_queries_fail_and_the_connection_comes_back_by_itself(host: Host) -> None:
    async with wired(host) as wire, connected(host.server(wire.url)) as store:
        wire.refusing = True
        wire.cut()
        for _ in range(5):
            with pytest.raises(StoreUnreachable, match=rf"the database at ws://127.0.0.1:{wire.port} cannot be reached: ."):
                await store.query("RETURN 1;")
        wire.refusing = False
        await again(store)


async def test_a_query_at_its_time_limit_fails_and_the_connection_goes_on(host: Host) -> None:
    async with wired(host) as wire, connected(host.server(wire.url, query_seconds=2.0)) as store:
        with pytest.raises(StoreFailed, match=r"did not answer within 2 s") as failed:
            await store.query("RETURN { sleep(3s); RETURN 'late'; };")
        assert not isinstance(failed.value, StoreUnreachable)
        assert "store.query_timeout_secs" in failed.value.help
        # The late answer belongs to nobody.
        assert await asyncio.gather(*(store.first("RETURN $n;", n=n) for n in range(20))) == list(range(20))
        with no_time_limit():
            assert await store.first("RETURN { sleep(2500ms); RETURN 'in time'; };") == "in time"
        assert wire.made == 1


async def test_a_server_that_gives_no_sign_of_life_is_given_up(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palace.store.remote.BEAT_SECONDS", 0.1)
    monkeypatch.setattr("palace.store.remote.SILENCE_SECONDS", 0.3)
    monkeypatch.setattr("palace.store.remote.CONNECT_SECONDS", 0.3)
    async with wired(host) as wire, connected(host.server(wire.url)) as store:
        wire.swallowing = True
        with pytest.raises(StoreUnreachable, match=r"no sign of life|did not answer within"):
            await store.query("CREATE nothing;")
        wire.swallowing = False
        monkeypatch.setattr("palace.store.remote.CONNECT_SECONDS", 5.0)
        await again(store)


async def test_closing_does_not_wait_for_a_server_that_is_silent_or_gone(host: Host) -> None:
    for gone in (False, True):
        async with wired(host) as wire:
            store = await open_remote(host.server(wire.url))
            wire.swallowing, wire.refusing = True, gone
            if gone:
                wire.cut()
            waiting = asyncio.create_task(store.query("UPDATE nothing;"))
            await asyncio.sleep(0.05)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await store.close()
            with pytest.raises(StoreUnreachable):
                await waiting
            with pytest.raises(StoreUnreachable, match="the palace is closed"):
                await store.query("RETURN 1;")
            left = {task.get_name() for task in asyncio.all_tasks()}
            assert not left & {"database connection", "database heartbeat"}


async def test_a_message_that_is_too_large_is_an_error_with_its_reason(host: Host) -> None:
    async with connected(host.server(database="oversized")) as store:
        await store.query("DEFINE TABLE large SCHEMALESS;")
        rows = [{"text": "x" * 100_000}] * 170
        with pytest.raises(StoreFailed, match="about 16 MiB is larger than the database server takes") as failed:
            await store.query("INSERT INTO large $rows RETURN NONE;", rows=rows)
        # A server that is away would be worth another try.
        assert not isinstance(failed.value, StoreUnreachable)
        await again(store)
        assert await store.first("SELECT * FROM large;") == []


async def test_a_server_that_is_not_there_yet_is_waited_for(host: Host) -> None:
    async with wired(host) as wire:
        wire.refusing = True
        with pytest.raises(StoreUnreachable):
            await open_remote(host.server(wire.url))
        opening = asyncio.create_task(open_remote(host.server(wire.url), patience=PATIENCE_SECONDS))
        await asyncio.sleep(0.3)
        wire.refusing = False
        store = await opening
        assert await store.first("RETURN 1;") == 1
        await store.close()


async def test_a_password_in_the_address_is_in_no_message(host: Host) -> None:
    async with wired(host) as wire:
        wire.refusing = True
        secret = wire.url.replace("ws://", "ws://ada:url-secret@")
        with pytest.raises(StoreUnreachable) as failed:
            await open_remote(host.server(secret))
        assert wire.url in failed.value.message
        assert "url-secret" not in failed.value.message


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM drawer;", True),
        (" select record::id(id) AS id FROM type::record('wing', $id);", True),
        ("{ LET $a = (SELECT * FROM a); RETURN $a; };", True),
        ("SHOW CHANGES FOR TABLE change SINCE 0 LIMIT 1;", True),
        ("INFO FOR DB;", True),
        ("RETURN (UPDATE a SET n = 1);", False),
        ("SELECT * FROM (DELETE a RETURN BEFORE);", False),
        ("{ LET $a = 1; CREATE a; };", False),
        ("BEGIN; SELECT * FROM a; COMMIT;", False),
        ("RETURN fn::anything();", False),
        ("RETURN http::post('http://example.org');", False),
        ("RETURN sequence::nextval('n');", False),
        ("RETURN function() { return 1; };", False),
        ("DEFINE TABLE a;", False),
        ("USE DB other;", False),
        ("CREATE a; SELECT * FROM a;", False),
    ],
)
def test_what_surely_only_reads(sql: str, expected: bool) -> None:
    assert reads_only(sql) is expected
