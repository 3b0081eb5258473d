"""One rule for time everywhere: stored in UTC, offsets honoured, whatever zone the machine is in."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from palace.domain.clock import add_seconds, instant
from tests.support import running_daemon


def test_a_daemon_in_shanghai_reads_and_writes_the_same_instants(tmp_path: Path) -> None:
    with running_daemon(tmp_path / "home", TZ="Asia/Shanghai") as daemon:
        drawer = daemon.post("/api/wings/w/rooms/r/drawers", {"content": "the instant is one"})
        written = drawer["valid_from"]
        assert written == instant(written)

        def found(as_of: str) -> int:
            return len(daemon.get(f"/api/search?q=instant&as_of={quote(as_of)}"))

        later, earlier = add_seconds(written, 1), add_seconds(written, -1)
        assert (found(later), found(earlier)) == (1, 0)
        in_shanghai = add_seconds(later, 8 * 3600).replace("Z", "+08:00")
        in_new_york = add_seconds(earlier, -5 * 3600).replace("Z", "-05:00")
        assert (found(in_shanghai), found(in_new_york)) == (1, 0)
        assert found(written[:10]) == 0
        assert found(add_seconds(written, 86_400)[:10]) == 1
