"""The wing of a directory when the caller names none."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from mining.adapters.registry import adapter

DIRECTORY = adapter("directory")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory that holds all directories of the test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def wing(directory: Path) -> str:
    directory.mkdir(parents=True, exist_ok=True)
    return DIRECTORY.default_wing(DIRECTORY.identify(str(directory), {}))


def declare(directory: Path, content: str) -> Path:
    path = directory / ".config" / "memcastle.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_the_directory_gives_its_name(home: Path) -> None:
    assert wing(home / "notes") == "notes"
    assert wing(home / " 图 ") == "图"


def test_a_name_that_looks_like_an_id_gets_a_prefix(home: Path) -> None:
    name = "6fa459ea-ee8a-4ca4-894e-db77e160355e"
    assert wing(home / name) == f"project-{name}"


def test_the_file_system_root_is_unnamed() -> None:
    assert DIRECTORY.default_wing(DIRECTORY.identify("/", {})) == "unnamed"


def test_a_project_declares_its_wing_for_its_subdirectories(home: Path) -> None:
    declare(home / "project", '[memcastle]\nwing = "declared"\nroom = "files"\n[project]\nname = "other"\n[mining]\n')
    assert wing(home / "project") == "declared"
    assert wing(home / "project/src/deep") == "declared"


def test_the_project_name_serves_when_no_wing_is_declared(home: Path) -> None:
    declare(home / "project", '[project]\nname = " named "\n[memcastle]\nwing = " "\n')
    assert wing(home / "project/src") == "named"


def test_the_nearest_file_wins_and_inherits_nothing(home: Path) -> None:
    declare(home / "outer", '[memcastle]\nwing = "outer"\n')
    declare(home / "outer/inner", "")
    assert wing(home / "outer/inner") == "inner"
    assert wing(home / "outer/other") == "outer"


@pytest.mark.parametrize("as_file", [True, False])
def test_the_search_ends_with_the_directory_that_holds_git(home: Path, as_file: bool) -> None:
    declare(home / "above", '[memcastle]\nwing = "above"\n')
    repository = home / "above/repository"
    repository.mkdir()
    if as_file:
        (repository / ".git").write_text("gitdir: elsewhere\n")
    else:
        (repository / ".git").mkdir()
    assert wing(repository / "src") == "src"
    declare(repository, '[memcastle]\nwing = "own"\n')
    assert wing(repository / "src") == "own"


def test_the_file_in_the_home_directory_belongs_to_no_project(home: Path) -> None:
    declare(home, '[memcastle]\nwing = "everything"\n')
    assert wing(home / "notes") == "notes"
    assert wing(home) == home.name


@pytest.mark.parametrize(
    "content",
    [
        "secret = ",
        'secret = "x"\n',
        "[memcastle]\nwing = 7\n",
        '[memcastle]\nwing = "a/b"\n',
        '[memcastle]\nsecret = "x"\n',
        "[mining]\nsecret = 1\n",
        "memcastle = 'secret'\n",
        "# secret\n" * 10_000,
    ],
)
def test_a_file_that_cannot_be_used_is_logged_without_its_content(
    home: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    declare(home / "project", content)
    with caplog.at_level(logging.WARNING, "memcastle.mining"):
        assert wing(home / "project/src") == "src"
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "secret" not in str(vars(record))


def test_a_project_file_that_is_no_file_is_passed_over(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    (home / "project/.config").mkdir(parents=True)
    os.mkfifo(home / "project/.config/memcastle.toml")
    assert wing(home / "project") == "project"
    assert len(caplog.records) == 1
