"""A palace path that names something else is refused and left as it is."""

from __future__ import annotations

import stat
from pathlib import Path

from tests.hazards.test_second_daemon import serve
from tests.support import Daemon


def test_a_directory_with_other_things_in_it_is_not_turned_into_a_palace(tmp_path: Path) -> None:
    precious = tmp_path / "photos"
    precious.mkdir()
    (precious / "holiday.jpg").write_bytes(b"\xff\xd8")
    ended = serve(tmp_path, MEMCASTLE_PORT="0", MEMCASTLE_PALACE_PATH=str(precious))
    assert ended.returncode == 1
    assert "is no palace" in ended.stderr
    assert "holiday.jpg" in ended.stderr
    assert [entry.name for entry in precious.iterdir()] == ["holiday.jpg"]


def test_a_path_that_is_a_file_or_relative_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    for path, told in ((str(tmp_path / "file"), "memcastle::io::failed"), ("palace", "memcastle::config::invalid")):
        ended = serve(tmp_path, MEMCASTLE_PORT="0", MEMCASTLE_PALACE_PATH=path)
        assert ended.returncode == 1
        assert told in ended.stderr
    assert (tmp_path / "file").read_text() == "text"


def test_a_new_palace_is_for_its_owner_alone(shared_daemon: Daemon) -> None:
    palace = Path(shared_daemon.get("/api/status")["palace_path"])
    assert stat.S_IMODE(palace.stat().st_mode) == 0o700
