"""Daemons that start at the same moment on a palace that none of them has seen."""

from __future__ import annotations

from pathlib import Path

from memcastle_site.schema_files import definitions
from palace.store.schema import definitions_to_sync
from tests.remote.support import Host, connected, guest
from tests.support import until


async def test_three_daemons_make_one_palace(tmp_path: Path, host: Host) -> None:
    for attempt in range(2):
        database = f"new-{attempt}"
        daemons = [guest(tmp_path / f"{attempt}-{number}", host, store={"database": database}) for number in range(3)]
        try:
            for daemon in daemons:
                daemon.launch()
            for daemon in daemons:
                daemon.port = until(daemon._announced_port, "the daemon to serve")
            for number, daemon in enumerate(daemons):
                assert daemon.request("POST", "/api/wings", {"name": f"wing-{number}"}).status == 201
            for daemon in daemons:
                assert [wing["name"] for wing in daemon.get("/api/wings")] == ["wing-0", "wing-1", "wing-2"]
        finally:
            codes = [daemon.stop() for daemon in daemons]
        assert codes == [0, 0, 0]
        logs = [daemon.log.read_text() for daemon in daemons]
        assert sum(log.count("schema synchronised") for log in logs) == 1
        assert not any("error" in log for log in logs), logs
        async with connected(host.server(database=database)) as store:
            assert not (await definitions_to_sync(store, definitions())).any
            lock = await store.first("SELECT VALUE [version, lock_owner, lock_expires_at] FROM migration_state;")
            assert lock == [[0, None, None]]


async def test_migrate_beside_a_running_daemon(tmp_path: Path, host: Host) -> None:
    """On a palace of its own the daemon would hold the database."""
    daemon = guest(tmp_path / "home", host, store={"database": "beside"})
    assert '"current_version": 0' in daemon.manage("migrate", "--status").stdout
    assert daemon.manage("migrate", "--check").returncode == 0
    daemon.start()
    try:
        async with connected(host.server(database="beside")) as store:
            await store.query(
                "DEFINE INDEX left_over ON drawer FIELDS tags;"
                "UPSERT type::record('schema_definition', 'INDEX left_over ON drawer') CONTENT { digest: 'old' };"
            )
            daemon.stop()
            daemon.start()
            assert "left_over" in (await store.first("INFO FOR TABLE drawer;"))["indexes"]
            answer = daemon.manage("migrate")
            assert (answer.returncode, "applied" in answer.stdout) == (0, True)
            assert "left_over" not in (await store.first("INFO FOR TABLE drawer;"))["indexes"]
    finally:
        daemon.stop()
