"""What is read from a file, and what makes a file unfit."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from mining.adapters.registry import adapter
from mining.conf import MiningConfig
from mining.domain.contract import Candidate, RawDocument, Skip, SkipReason, SourceRef
from palace.configuration import overridden

DIRECTORY = adapter("directory")


def listed(root: Path) -> tuple[SourceRef, list[Candidate]]:
    ref = DIRECTORY.identify(str(root), {})
    return ref, list(DIRECTORY.discover(ref, None, 1000).candidates)


def read(path: Path) -> RawDocument | Skip:
    """Lists the directory of `path` and reads that file."""
    ref, candidates = listed(path.parent)
    return DIRECTORY.read(ref, next(found for found in candidates if found.external_id == path.name))


def reason(found: RawDocument | Skip) -> str:
    assert isinstance(found, Skip)
    return found.reason.value


def body(found: RawDocument | Skip) -> str:
    assert isinstance(found, RawDocument)
    return found.body


def revision(found: RawDocument | Skip) -> str:
    assert isinstance(found, RawDocument)
    return found.revision


def test_a_document_carries_its_path_time_and_text(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "notes.md"
    path.write_text("图数据库\n")
    os.utime(path, ns=(0, 1_788_220_800_000_000_007))
    assert read(path) == RawDocument(
        external_id="notes.md",
        revision=hashlib.sha256("图数据库\n".encode()).hexdigest(),
        body="图数据库\n",
        metadata={"path": str(path)},
        occurred_at="2026-09-01T00:00:00.000000007Z",
    )


def test_touching_a_file_moves_its_time_and_not_its_revision(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("same")
    before = read(path)
    os.utime(path, ns=(0, 5))
    after = read(path)
    assert revision(after) == revision(before)
    assert after != before


def test_a_byte_order_mark_is_kept_and_does_not_change_the_revision(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"text\n")
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbftext\n")
    assert body(read(tmp_path / "marked")) == "\ufefftext\n"
    assert revision(read(tmp_path / "marked")) == revision(read(tmp_path / "plain"))


def test_crlf_is_kept_and_does_not_change_the_revision(tmp_path: Path) -> None:
    (tmp_path / "unix").write_bytes(b"a\nb\n")
    (tmp_path / "dos").write_bytes(b"a\r\nb\r\n")
    assert body(read(tmp_path / "dos")) == "a\r\nb\r\n"
    assert revision(read(tmp_path / "dos")) == revision(read(tmp_path / "unix"))


def test_a_line_of_one_megabyte_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "line").write_text("x" * 1_000_000)
    assert len(body(read(tmp_path / "line"))) == 1_000_000


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x7fELF\0\0", "binary"),
        (b"text " * 4000 + b"\0", "binary"),
        ("text".encode("utf-16"), "binary"),
        (b"caf\xe9", "not_utf8"),
        (b"\xed\xa0\x80", "not_utf8"),
        (b"\xff\xfe", "not_utf8"),
    ],
)
def test_content_that_is_no_utf8_text_is_skipped_by_reason(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "file").write_bytes(content)
    assert reason(read(tmp_path / "file")) == why


def test_a_file_deleted_between_listing_and_reading_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    ref, [candidate] = listed(tmp_path)
    (tmp_path / "a").unlink()
    assert DIRECTORY.read(ref, candidate) == Skip("a", SkipReason.UNREADABLE)


def test_a_file_that_became_something_else_is_never_followed_or_waited_for(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("link", "pipe", "directory", "empty", "grown"):
        (tree / name).write_text("x")
    ref, candidates = listed(tree)
    for found in candidates:
        (tree / found.external_id).unlink()
    (tree / "link").symlink_to(secret)
    os.mkfifo(tree / "pipe")
    (tree / "directory").mkdir()
    (tree / "empty").write_text("")
    (tree / "grown").write_text("x" * 101)
    with overridden(MiningConfig(max_file_bytes=100)):
        outcomes = {found.external_id: reason(DIRECTORY.read(ref, found)) for found in candidates}
    assert outcomes == {
        "link": "symlink",
        "pipe": "unreadable",
        "directory": "unreadable",
        "empty": "empty",
        "grown": "too_large",
    }


def test_a_file_that_may_not_be_opened_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locked").write_text("x")
    ref, [candidate] = listed(tmp_path)

    def refused(path: str, *_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(os, "open", refused)
    assert reason(DIRECTORY.read(ref, candidate)) == "unreadable"


def test_reading_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x")
    (tmp_path / "binary").write_bytes(b"\0")
    (tmp_path / "later").write_text("x")
    ref, candidates = listed(tmp_path)
    (tmp_path / "later").unlink()
    (tmp_path / "later").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        for candidate in candidates:
            DIRECTORY.read(ref, candidate)
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_canonical_document_is_the_whole_text_under_its_path(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    path = tmp_path.resolve() / "src/lib.rs"
    path.write_text("fn main() {}\r\n")
    ref, [candidate] = listed(tmp_path)
    raw = DIRECTORY.read(ref, candidate)
    assert isinstance(raw, RawDocument)
    document = DIRECTORY.normalize(raw)
    assert (document.title, document.name, document.room) == ("src/lib.rs", "src/lib.rs", None)
    assert (document.kind, document.uri, document.tags) == ("file", str(path), ())
    assert document.segments == ("fn main() {}\r\n",)


@pytest.mark.parametrize("name", ["two\nlines", " spaced", "6fa459ea-ee8a-4ca4-894e-db77e160355e"])
def test_a_path_that_cannot_name_a_drawer_leaves_the_document_unnamed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    raw = read(tmp_path / name)
    assert isinstance(raw, RawDocument)
    document = DIRECTORY.normalize(raw)
    assert (document.title, document.name) == (name, None)
