"""Two daemons mine different directories into one palace while people write: nothing is lost, nothing is there twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.remote.support import Host, connected, guest, started
from tests.support import Daemon

FILES = 150
NOTES = 60


def tree(root: Path, name: str) -> Path:
    directory = root / name
    directory.mkdir()
    for number in range(FILES):
        file = directory / f"file{number}.txt"
        file.write_text(f"{name} document {number}\n" + f"the {name} castle has many rooms and long corridors\n" * 40)
    return directory


async def test_two_mines_and_hand_writes_of_two_daemons(tmp_path: Path, host: Host) -> None:
    daemons = [guest(tmp_path / name, host, store={"database": "two-mines"}) for name in ("first", "second")]
    directories = [tree(tmp_path, name) for name in ("north", "south")]

    def mine(work: tuple[Daemon, Path]) -> dict[str, object]:
        daemon, directory = work
        return daemon.mine(directory, wing="mined")

    def write(number: int) -> int:
        daemon = daemons[number % 2]
        return daemon.request("POST", "/api/wings/mined/rooms/files/drawers", {"content": f"handwritten note {number}"}).status

    with started(*daemons):
        daemons[0].request("POST", "/api/wings", {"name": "mined"})
        daemons[0].request("POST", "/api/wings/mined/rooms", {"name": "files"})
        with ThreadPoolExecutor(6) as clients:
            mines = clients.map(mine, zip(daemons, directories, strict=True))
            assert set(clients.map(write, range(NOTES))) == {201}
            for ended in mines:
                assert ended["status"] == "completed", ended
        for daemon in daemons:
            assert daemon.get("/api/status")["drawer_count"] == 2 * FILES + NOTES
            assert len(daemon.get("/api/search?q=handwritten&limit=200")) == NOTES
            for word in ("north", "south"):
                assert len(daemon.get(f"/api/search?q={word}&limit=200")) == FILES
        # Mined again, by the other daemon, nothing is filed.
        for daemon, directory in zip(daemons, reversed(directories), strict=True):
            assert daemon.mine(directory, wing="mined")["result"]["created"] == 0
        for daemon in daemons:
            log = daemon.log.read_text()
            assert "write conflicts" not in log
            assert "Traceback" not in log
    async with connected(host.server(database="two-mines")) as store:
        origins = await store.first("SELECT VALUE source.origin.document FROM drawer WHERE source.kind = 'file';")
        assert len(origins) == 2 * FILES
        hashes = await store.first("SELECT VALUE content_hash FROM drawer;")
        assert len(set(hashes)) == len(hashes) == 2 * FILES + NOTES
