"""People keep writing while a mine runs: both touch the full-text index, neither loses anything."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support import Daemon


def test_notes_written_during_two_mines_are_all_kept_and_found(daemon: Daemon, tmp_path: Path) -> None:
    jobs = []
    for tree in ("one", "two"):
        for number in range(80):
            file = tmp_path / tree / f"file{number}.txt"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{tree} document {number}\n" + "the castle has many rooms and long corridors\n" * 40)
        jobs.append(daemon.post("/api/jobs", {"type": "mine", "path": str(tmp_path / tree), "wing": "mined"})["id"])

    def write(number: int) -> int:
        body = {"content": f"handwritten note {number} about the castle"}
        return daemon.request("POST", "/api/wings/mined/rooms/files/drawers", body).status

    with ThreadPoolExecutor(6) as clients:
        assert set(clients.map(write, range(60))) == {201}
    for job in jobs:
        ended = daemon.ended(job)
        assert (ended["status"], ended["result"]["created"]) == ("completed", 80)
    assert daemon.get("/api/status")["drawer_count"] == 220
    assert len(daemon.get("/api/search?q=handwritten&limit=200")) == 60
    log = daemon.log.read_text()
    assert "write conflicts" not in log
    assert "Traceback" not in log
