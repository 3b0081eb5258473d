"""What a directory lists, in which order, and what it leaves out."""

from __future__ import annotations

import errno
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from mining.adapters.registry import adapter
from mining.conf import MiningConfig
from mining.domain.contract import Discovery
from mining.errors import SourceCursorInvalid
from palace.configuration import overridden
from palace.errors import FileFailed

DIRECTORY = adapter("directory")
ALL = 1_000_000


def discover(root: Path, cursor: object = None, limit: int = ALL, **options: str) -> Discovery:
    return DIRECTORY.discover(DIRECTORY.identify(str(root), options), cursor, limit)


def listed(discovery: Discovery) -> list[str]:
    return [candidate.external_id for candidate in discovery.candidates]


def skipped(discovery: Discovery) -> dict[str, str]:
    assert len({skip.path for skip in discovery.skips}) == len(discovery.skips)
    return {skip.path: skip.reason.value for skip in discovery.skips}


def put(path: Path, content: str = "text", *, mtime: float | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    if mtime is not None:
        os.utime(path, ns=(0, int(mtime * 1_000_000_000)))
    return path


def refusing(allowed: Callable[..., object], refused: str) -> Callable[..., object]:
    """`allowed`, but for one path. Tests may run as root, whom permissions do not stop."""

    def call(path: object, *rest: object, **named: object) -> object:
        if str(path).rstrip("/") == refused:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), refused)
        return allowed(path, *rest, **named)

    return call


def test_files_come_in_order_of_modification_then_path(tmp_path: Path) -> None:
    put(tmp_path / "late", mtime=30)
    put(tmp_path / "sub/b", mtime=20)
    put(tmp_path / "sub/a", mtime=20)
    put(tmp_path / "z", mtime=10)
    found = discover(tmp_path)
    assert listed(found) == ["z", "sub/a", "sub/b", "late"]
    assert found.exhausted
    assert found.candidates[1].cursor_after == {"mtime_ns": 20_000_000_000, "key": "sub/a"}


def test_files_of_one_instant_are_neither_lost_nor_repeated_over_pages(tmp_path: Path) -> None:
    for number in range(7):
        put(tmp_path / f"{number}", mtime=5)
    seen: list[str] = []
    cursor: object = None
    pages = 0
    while True:
        page = discover(tmp_path, cursor, 3)
        seen += listed(page)
        pages += 1
        if page.exhausted:
            break
        cursor = page.candidates[-1].cursor_after
    assert seen == [f"{number}" for number in range(7)]
    assert pages == 3


def test_exactly_the_limit_is_exhausted(tmp_path: Path) -> None:
    put(tmp_path / "a", mtime=1)
    put(tmp_path / "b", mtime=2)
    assert discover(tmp_path, limit=2).exhausted
    assert not discover(tmp_path, limit=1).exhausted
    assert not discover(tmp_path, limit=0).exhausted
    last = discover(tmp_path).candidates[-1].cursor_after
    assert discover(tmp_path, last, 0) == Discovery((), exhausted=True)


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        7,
        [],
        {},
        {"mtime_ns": 1},
        {"mtime_ns": "1", "key": "a"},
        {"mtime_ns": True, "key": "a"},
        {"mtime_ns": -1, "key": "a"},
        {"mtime_ns": 1, "key": 2},
        {"mtime_ns": 1, "key": "a", "more": 1},
    ],
)
def test_a_cursor_of_another_shape_is_refused(tmp_path: Path, cursor: object) -> None:
    with pytest.raises(SourceCursorInvalid):
        discover(tmp_path, cursor)


def test_a_time_out_of_range_counts_as_the_nearer_end(tmp_path: Path) -> None:
    put(tmp_path / "old", mtime=-100)
    found = discover(tmp_path).candidates[0]
    assert found.cursor_after == {"mtime_ns": 0, "key": "old"}
    assert found.stamp.startswith("-100000000000:")


def test_the_stamp_changes_with_time_size_and_identity_of_the_file(tmp_path: Path) -> None:
    stamps = []
    for content, mtime in (("one", 5), ("one", 6), ("four", 6)):
        put(tmp_path / "a", content, mtime=mtime)
        stamps.append(discover(tmp_path).candidates[0].stamp)
    put(tmp_path / "b", "more", mtime=6)
    (tmp_path / "b").replace(tmp_path / "a")
    stamps.append(discover(tmp_path).candidates[0].stamp)
    assert len(set(stamps)) == 4
    assert discover(tmp_path).candidates[0].stamp == stamps[-1]


def test_since_leaves_out_what_was_modified_in_an_earlier_second(tmp_path: Path) -> None:
    put(tmp_path / "before", mtime=1_788_220_799.9)
    put(tmp_path / "at", mtime=1_788_220_800)
    put(tmp_path / "within", mtime=1_788_220_800.4)
    found = discover(tmp_path, since="2026-09-01T00:00:00.7Z")
    assert listed(found) == ["at", "within"]
    assert skipped(found) == {}


def test_hidden_files_are_listed_and_hidden_or_built_directories_are_not(tmp_path: Path) -> None:
    put(tmp_path / ".env")
    put(tmp_path / "deep/.npmrc")
    unentered = [".git", "target", "node_modules", ".venv", "venv", "dist", "build", ".cache", ".hidden"]
    for name in unentered:
        put(tmp_path / "deep" / name / "inner/file")
    for ignore in ("on", "off"):
        found = discover(tmp_path, ignore=ignore)
        assert sorted(listed(found)) == [".env", "deep/.npmrc"]
        assert skipped(found) == {f"deep/{name}/": "ignored" for name in unentered}


def test_a_file_named_like_an_unentered_directory_is_listed(tmp_path: Path) -> None:
    put(tmp_path / "build")
    assert listed(discover(tmp_path)) == ["build"]


def test_empty_and_oversized_files_are_skipped_by_reason(tmp_path: Path) -> None:
    put(tmp_path / "empty", "")
    put(tmp_path / "fits", "x" * 10)
    put(tmp_path / "over", "x" * 11)
    with overridden(MiningConfig(max_file_bytes=10)):
        found = discover(tmp_path)
    assert listed(found) == ["fits"]
    assert skipped(found) == {"empty": "empty", "over": "too_large"}


def test_symlinks_and_their_loops_are_never_followed(tmp_path: Path) -> None:
    put(tmp_path / "tree/a/b/file")
    put(tmp_path / "outside/secret")
    tree = tmp_path / "tree"
    (tree / "a/b/loop").symlink_to("../..")
    (tree / "self").symlink_to("self")
    (tree / "dangling").symlink_to("nowhere")
    (tree / "out").symlink_to(tmp_path / "outside")
    (tree / "outfile").symlink_to(tmp_path / "outside/secret")
    found = discover(tree)
    assert listed(found) == ["a/b/file"]
    assert skipped(found) == dict.fromkeys(["a/b/loop", "self", "dangling", "out", "outfile"], "symlink")


def test_pipes_sockets_and_devices_are_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)
        server.bind("socket")
        found = discover(tmp_path)
    assert listed(found) == []
    assert skipped(found) == {"pipe": "unreadable", "socket": "unreadable"}


def test_names_that_are_not_utf8_are_skipped_with_a_printable_path(tmp_path: Path) -> None:
    put(tmp_path / "sub/caf\udce9.txt")
    put(tmp_path / "d\udcff/inner")
    found = discover(tmp_path)
    assert listed(found) == []
    assert skipped(found) == {"sub/caf\\xe9.txt": "not_utf8", "d\\xff/": "not_utf8"}


def test_a_name_with_a_newline_or_any_script_is_listed_as_it_is(tmp_path: Path) -> None:
    names = ["two\nlines.md", "图数据库/决定.md", " spaced ", "trailing."]
    for name in names:
        put(tmp_path / name)
    assert sorted(listed(discover(tmp_path))) == sorted(names)


def test_a_root_that_cannot_be_listed_fails_and_is_not_taken_for_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "file")
    monkeypatch.setattr(os, "scandir", refusing(os.scandir, str(tmp_path.resolve())))
    with pytest.raises(FileFailed, match="cannot be listed"):
        discover(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not stop root; the refusal is tested above")
def test_a_root_without_permissions_fails(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    put(tree / "file")
    tree.chmod(0)
    try:
        with pytest.raises(FileFailed):
            discover(tree)
    finally:
        tree.chmod(0o700)


def test_a_root_that_vanished_fails(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    put(tree / "file")
    ref = DIRECTORY.identify(str(tree), {})
    shutil.rmtree(tree)
    with pytest.raises(FileFailed):
        DIRECTORY.discover(ref, None, ALL)


def test_a_root_that_vanishes_during_the_walk_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "tree"
    put(tree / "sub/file")
    scandir = os.scandir

    def moving_away_before_listing(path: str) -> object:
        if path.endswith("sub/"):
            tree.rename(tmp_path / "elsewhere")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", moving_away_before_listing)
    with pytest.raises(FileFailed):
        discover(tree)


def test_a_nested_directory_that_cannot_be_listed_is_skipped_and_the_walk_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "a/file")
    put(tmp_path / "locked/file")
    put(tmp_path / "z/file")
    monkeypatch.setattr(os, "scandir", refusing(os.scandir, str(tmp_path.resolve() / "locked")))
    found = discover(tmp_path)
    assert sorted(listed(found)) == ["a/file", "z/file"]
    assert skipped(found) == {"locked/": "unreadable"}


def test_a_file_deleted_between_listing_and_stat_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "gone")
    put(tmp_path / "stays")
    scandir = os.scandir

    class Listing:
        def __init__(self, path: str) -> None:
            self.entries = list(scandir(path))

        def __enter__(self) -> list[os.DirEntry[str]]:
            (tmp_path / "gone").unlink(missing_ok=True)
            return self.entries

        def __exit__(self, *error: object) -> None:
            return None

    monkeypatch.setattr(os, "scandir", Listing)
    found = discover(tmp_path)
    assert listed(found) == ["stays"]
    assert skipped(found) == {"gone": "unreadable"}


def test_a_tree_deeper_than_the_recursion_limit_is_walked(tmp_path: Path) -> None:
    levels = [str(tmp_path) + "/d" * depth for depth in range(1, 1500)]
    for level in levels:
        os.mkdir(level)
    try:
        put(tmp_path / "top")
        found = discover(tmp_path)
        assert listed(found) == ["top"]
        assert found.skips == ()
    finally:
        for level in reversed(levels):
            os.rmdir(level)


def test_a_path_longer_than_the_system_takes_is_skipped_and_the_walk_goes_on(tmp_path: Path) -> None:
    name = "n" * 250
    parent = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir(name, dir_fd=parent)
        child = os.open(name, os.O_RDONLY, dir_fd=parent)
        os.close(parent)
        parent = child
    os.close(parent)
    put(tmp_path / "top")
    found = discover(tmp_path)
    assert listed(found) == ["top"]
    assert [skip.reason.value for skip in found.skips] == ["unreadable"]


def test_skips_speak_of_the_whole_tree_on_every_page(tmp_path: Path) -> None:
    put(tmp_path / "a", mtime=1)
    put(tmp_path / "b", mtime=2)
    put(tmp_path / "empty", "", mtime=1)
    first = discover(tmp_path, limit=1)
    assert discover(tmp_path, first.candidates[-1].cursor_after).skips == first.skips
