"""The grammar of `mine`: what is a directory, what a source, what an option."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memcastle_site.console.mining import Target, absolute, find_target, looks_like_directory, sort_words
from memcastle_site.errors import CommandUsage
from palace.errors import InvalidInput


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("notes", "pi", "directory", "a=b", "Notes"):
        (tmp_path / name).mkdir()
    return tmp_path.resolve()


def target(*words: str, sources: Sequence[str] = ("directory",)) -> Target:
    return find_target(sort_words(words), lambda: sources)


@pytest.mark.parametrize("word", ["./x", "/x", "a/b", ".", "..", "~", "~/x", ".hidden", "Notes", "srcDir", "x/"])
def test_words_that_can_only_be_a_directory(word: str) -> None:
    assert looks_like_directory(word)


@pytest.mark.parametrize("word", ["pi", "directory", "my-notes", "notes2"])
def test_words_that_may_be_a_source(word: str) -> None:
    assert not looks_like_directory(word)


def test_a_path_is_made_absolute_and_clean(here: Path) -> None:
    (here / "link").symlink_to(here / "notes")
    for word in ("./notes", "./notes//", "./pi/../notes/.", "./link", str(here / "notes")):
        assert target(word) == Target("directory", str(here / "notes"))
    assert target("./link/not/yet").place == str(here / "notes/not/yet")


def test_the_home_directory_is_expanded(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))
    assert absolute("~/notes") == str(here / "notes")


def test_a_bare_word_is_a_source_before_it_is_a_directory(here: Path) -> None:
    assert target("pi", sources=["directory", "pi"]) == Target("pi", None)
    assert target("pi") == Target("directory", str(here / "pi"))
    assert target("./pi", sources=["directory", "pi"]) == Target("directory", str(here / "pi"))
    assert target("Notes", sources=["directory", "Notes"]) == Target("directory", str(here / "Notes"))


def test_the_directory_source_takes_a_place(here: Path) -> None:
    assert target("directory", "notes") == Target("directory", str(here / "notes"))
    with pytest.raises(CommandUsage, match="place"):
        target("directory")


def test_another_source_takes_its_place_as_it_is_unless_it_is_a_path(here: Path) -> None:
    assert target("pi", "work", sources=["pi"]) == Target("pi", "work")
    assert target("pi", "./notes", sources=["pi"]) == Target("pi", str(here / "notes"))


def test_a_bare_word_that_is_neither_is_refused_with_the_sources(here: Path) -> None:
    with pytest.raises(InvalidInput, match="nowhere") as refused:
        target("nowhere", sources=["directory", "pi"])
    assert "directory, pi" in refused.value.help


def test_sources_are_not_asked_for_when_the_word_is_a_path(here: Path) -> None:
    def never() -> Sequence[str]:
        raise AssertionError

    find_target(sort_words(["./notes"]), never)
    find_target(sort_words(["directory", "notes"]), never)


def test_options_stand_anywhere_after_a_lower_case_key() -> None:
    words = sort_words(["./x", "since=2026-01", "my-key_2=a=b", "empty="])
    assert words.options == {"since": "2026-01", "my-key_2": "a=b", "empty": ""}
    assert sort_words(["./a=b"]).first == "./a=b"
    assert sort_words(["A=b"]).first == "A=b"
    assert sort_words(["since=1", "./x"]).first == "./x"


@pytest.mark.parametrize(
    "words", [["since=1"], [""], ["./x", "a=1", "a=2"], ["./x", "./y", "./z"]], ids=["no place", "empty", "twice", "too many"]
)
def test_words_that_make_no_sense_are_usage_errors(words: list[str]) -> None:
    with pytest.raises(CommandUsage):
        sort_words(words)


def test_a_path_takes_no_second_word(here: Path) -> None:
    with pytest.raises(CommandUsage):
        target("./notes", "./pi")


def test_the_request_names_a_path_for_directories_and_a_source_for_the_rest() -> None:
    common = {"type": "mine", "wing": "w", "full": True, "options": {"since": "2026-01"}, "requested_by": "cli"}
    settings = {"wing": "w", "full": True, "options": {"since": "2026-01"}}
    assert Target("directory", "/x").request(**settings) == common | {"path": "/x"}  # type: ignore[arg-type]
    assert Target("pi", None).request(**settings) == common | {"source": "pi", "locator": None}  # type: ignore[arg-type]
