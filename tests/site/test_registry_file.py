"""The registry file: who wrote it, whether he still lives, and that nothing half written is ever read."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memcastle_site.daemon import registry
from memcastle_site.daemon.registry import Found, Registration, read, registry_path, remove, write
from palace.errors import FileFailed

STARTED = "2026-03-01T12:00:00.123456789Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return registry_path(tmp_path / "state" / "memcastle", tmp_path / "palace")


@pytest.fixture
def ours() -> Registration:
    return registry.registration_of_this_process("127.0.0.1", 8420, STARTED, "0.1.0")


def test_what_is_written_is_read(path: Path, ours: Registration) -> None:
    assert read(path) == Found("absent")
    write(path, ours)

    assert read(path) == Found("live", ours)
    assert ours.address == ("127.0.0.1", 8420)


def test_file_has_the_documented_shape(path: Path, ours: Registration) -> None:
    write(path, ours)
    document = json.loads(path.read_text())

    assert document["pid"] == os.getpid()
    assert document["bind_addr"] == "127.0.0.1:8420"
    assert document["started_at"] == "2026-03-01T12:00:00.123456789+00:00"
    assert document["version"] == "0.1.0"
    assert path.read_text().startswith("{\n")
    assert path.parts[-4:-2] == ("memcastle", "run")
    assert len(path.parts[-2]) == 16


def test_only_the_owner_may_look(path: Path, ours: Registration) -> None:
    write(path, ours)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [stat.S_IMODE(directory.stat().st_mode) for directory in list(path.parents)[:3]] == [0o700] * 3
    assert [found.name for found in path.parent.iterdir()] == ["daemon.json"]


def test_ipv6_address_is_read_back(path: Path) -> None:
    write(path, registry.registration_of_this_process("::1", 7, STARTED, "1"))
    found = read(path).registration

    assert found is not None
    assert (found.bind_addr, found.address) == ("[::1]:7", ("::1", 7))


def test_name_does_not_depend_on_whether_the_palace_exists_or_how_it_is_reached(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    before = registry_path(tmp_path, link / "palace")
    (real / "palace").mkdir()

    assert registry_path(tmp_path, link / "palace") == before == registry_path(tmp_path, real / "palace")
    assert registry_path(tmp_path, real) != before


def test_daemon_that_was_killed_is_stale(path: Path, ours: Registration) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    living = dataclasses.replace(ours, pid=child.pid, identity=registry.identity_of(child.pid))
    write(path, living)
    assert read(path).state == "live"
    child.kill()
    # Not collected yet: the pid is still there.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert read(path).state == "stale"
    child.communicate()

    assert read(path) == Found("stale", living)


def test_pid_that_another_process_took_over_is_stale(path: Path, ours: Registration) -> None:
    assert ours.identity is not None
    earlier = dataclasses.replace(ours.identity, start_ticks=ours.identity.start_ticks - 1)
    other_boot = dataclasses.replace(ours.identity, boot_id="another")
    for identity in (earlier, other_boot):
        write(path, dataclasses.replace(ours, identity=identity))
        assert read(path).state == "stale"


def test_without_process_information_a_living_pid_is_enough(
    path: Path, ours: Registration, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(registry, "_PROC", tmp_path / "nothing")
    write(path, ours)
    assert read(path).state == "live"

    write(path, registry.registration_of_this_process("127.0.0.1", 1, STARTED, "1"))
    assert json.loads(path.read_text())["identity"] is None
    assert read(path).state == "live"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b"{}",
        b'{"pid": 0, "bind_addr": "127.0.0.1:1", "started_at": "x", "version": "1"}',
        b'{"pid": -1, "bind_addr": "127.0.0.1:1", "started_at": "x", "version": "1"}',
        b'{"pid": true, "bind_addr": "127.0.0.1:1", "started_at": "x", "version": "1"}',
        b'{"pid": "1", "bind_addr": "127.0.0.1:1", "started_at": "x", "version": "1"}',
        b'{"pid": 1, "bind_addr": "127.0.0.1", "started_at": "x", "version": "1"}',
        b'{"pid": 1, "bind_addr": "attacker.example/x:1", "started_at": "x", "version": "1"}',
        b'{"pid": 1, "bind_addr": 1, "started_at": "x", "version": "1"}',
        b'{"pid": 1, "bind_addr": "127.0.0.1:1", "started_at": "x", "version": "1", "identity": 5}',
    ],
    ids=lambda content: repr(content[:60]),
)
def test_file_that_no_daemon_wrote_is_stale(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)

    assert read(path) == Found("stale")


def test_pid_beyond_every_process_is_stale(path: Path, ours: Registration) -> None:
    write(path, dataclasses.replace(ours, pid=2**70))

    assert read(path).state == "stale"


def test_file_of_another_user_is_not_trusted(path: Path, ours: Registration, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, ours)
    os.chown(path, 12345, -1) if os.getuid() == 0 else monkeypatch.setattr(os, "getuid", lambda: 12345)

    assert read(path) == Found("stale")


def test_only_the_own_file_is_removed(path: Path, ours: Registration) -> None:
    assert not remove(path, ours)
    successor = dataclasses.replace(ours, started_at="2026-03-01T13:00:00+00:00")
    write(path, successor)
    assert not remove(path, ours)
    assert path.exists()

    assert remove(path, successor)
    assert not path.exists()


def test_next_daemon_overwrites_what_was_left_behind(path: Path, ours: Registration) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"left behind")
    write(path, ours)

    assert read(path).state == "live"


def test_directory_that_cannot_be_made_is_an_error_not_a_crash(tmp_path: Path, ours: Registration) -> None:
    (tmp_path / "memcastle").write_text("a file where a directory should be")

    with pytest.raises(FileFailed, match=r"daemon\.json"):
        write(registry_path(tmp_path / "memcastle", tmp_path), ours)
