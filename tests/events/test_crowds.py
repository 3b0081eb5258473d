"""Three hundred clients at once: nobody misses anything, and everybody hears it in the same order."""

from __future__ import annotations

from pathlib import Path

from tests.events.conftest import OpenStream
from tests.support import running_daemon

READERS = 300
FILES = 120


def test_everyone_hears_everything_in_the_same_order(tmp_path: Path, follow: OpenStream) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for number in range(FILES):
        (files / f"{number}.txt").write_text(f"file {number}")
    with running_daemon(tmp_path / "home") as daemon:
        streams = [follow(daemon) for _ in range(READERS)]
        job = daemon.mine(files)["id"]
        heard = [stream.job_ended(job) for stream in streams]
    assert [event.name for event in heard[0]].count("drawer") == FILES
    assert "resync" not in {event.name for event in heard[0]}
    assert all(events == heard[0] for events in heard)
