"""Ignore files: git's rules, held against git itself."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from mining.adapters.registry import adapter
from mining.domain.contract import Discovery

DIRECTORY = adapter("directory")

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def discover(root: Path, **options: str) -> Discovery:
    return DIRECTORY.discover(DIRECTORY.identify(str(root), options), None, 1_000_000)


def listed(root: Path, **options: str) -> set[str]:
    """The files listed, without the ignore files themselves."""
    found = {candidate.external_id for candidate in discover(root, **options).candidates}
    return {path for path in found if os.path.basename(path) not in (".gitignore", ".ignore")}


def ignored(root: Path, **options: str) -> list[str]:
    return [skip.path for skip in discover(root, **options).skips if skip.reason.value == "ignored"]


def plant(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("text")
    return root


def rules(directory: Path, *lines: str, name: str = ".gitignore") -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))


def test_an_ignored_directory_is_one_skip_and_is_not_entered(tmp_path: Path) -> None:
    plant(tmp_path, "logs/a", "logs/deep/b", "src/logs/c", "src/main", "logs.md")
    rules(tmp_path, "logs/")
    assert listed(tmp_path) == {"src/main", "logs.md"}
    assert ignored(tmp_path) == ["logs/", "src/logs/"]


def test_a_directory_pattern_leaves_files_of_that_name(tmp_path: Path) -> None:
    plant(tmp_path, "a/data", "data/inner")
    rules(tmp_path, "data/")
    assert listed(tmp_path) == {"a/data"}


def test_later_lines_win_and_negation_takes_back_in(tmp_path: Path) -> None:
    plant(tmp_path, "a.log", "keep.log", "sub/keep.log", "sub/b.log")
    rules(tmp_path, "*.log", "!keep.log")
    assert listed(tmp_path) == {"keep.log", "sub/keep.log"}
    rules(tmp_path, "!keep.log", "*.log")
    assert listed(tmp_path) == set()


def test_nothing_below_an_ignored_directory_can_be_taken_back_in(tmp_path: Path) -> None:
    plant(tmp_path, "out/keep.log", "out/.ignore", "kept/a", "kept/b")
    rules(tmp_path, "out/", "!out/keep.log", "kept/*", "!kept/b")
    rules(tmp_path / "out", "!keep.log")
    assert listed(tmp_path) == {"kept/b"}


def test_a_whitelist_reaches_into_directories(tmp_path: Path) -> None:
    plant(tmp_path, "a.py", "a.txt", "d/b.py", "d/b.txt", "d/e/c.py", "d/e/c.txt")
    rules(tmp_path, "*", "!*/", "!*.py")
    assert listed(tmp_path) == {"a.py", "d/b.py", "d/e/c.py"}


def test_files_of_deeper_directories_win(tmp_path: Path) -> None:
    plant(tmp_path, "x.tmp", "sub/x.tmp", "sub/deep/x.tmp")
    rules(tmp_path, "*.tmp")
    rules(tmp_path / "sub", "!*.tmp")
    rules(tmp_path / "sub/deep", "*.tmp")
    assert listed(tmp_path) == {"sub/x.tmp"}


def test_the_dot_ignore_file_wins_over_gitignore_beside_it_and_only_there(tmp_path: Path) -> None:
    plant(tmp_path, "a.log", "b.log", "sub/a.log")
    rules(tmp_path, "*.log")
    rules(tmp_path, "!a.log", name=".ignore")
    rules(tmp_path / "sub", "a.log")
    assert listed(tmp_path) == {"a.log"}


def test_anchored_patterns_speak_of_their_own_directory(tmp_path: Path) -> None:
    plant(tmp_path, "top", "sub/top", "doc/x.md", "sub/doc/x.md", "sub/only", "sub/deep/only")
    rules(tmp_path, "/top", "doc/*.md")
    rules(tmp_path / "sub", "/only")
    assert listed(tmp_path) == {"sub/top", "sub/doc/x.md", "sub/deep/only"}


def test_lines_may_end_in_crlf_spaces_or_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    plant(tmp_path, "a", "b", "c ", "c", "#d", "e", "!f")
    rules(tmp_path, "\ufeffa\r", "b  ", "c\\ ", "\\#d", "# e", "\\!f")
    assert listed(tmp_path) == {"c", "e"}


def test_names_with_newlines_and_other_scripts_are_judged_like_any_other(tmp_path: Path) -> None:
    plant(tmp_path, "two\nlines/a.log", "two\nlines/b", "图/记录.log", "end.log\n")
    rules(tmp_path, "*.log", "图/*")
    assert listed(tmp_path) == {"two\nlines/b", "end.log\n"}


def test_ignore_off_turns_ignore_files_off(tmp_path: Path) -> None:
    plant(tmp_path, "a.log", "build/x", ".hidden/y")
    rules(tmp_path, "*.log")
    rules(tmp_path, "*", name=".ignore")
    assert listed(tmp_path, ignore="off") == {"a.log"}
    assert ignored(tmp_path, ignore="off") == [".hidden/", "build/"]
    assert listed(tmp_path, ignore="on") == set()


def test_ignore_files_themselves_are_ordinary_files(tmp_path: Path) -> None:
    rules(tmp_path, ".ignore")
    rules(tmp_path, "x", name=".ignore")
    assert [candidate.external_id for candidate in discover(tmp_path).candidates] == [".gitignore"]


def test_rules_above_the_root_apply_down_from_the_git_top_level(tmp_path: Path) -> None:
    top = plant(tmp_path / "repository", "packages/one/a.log", "packages/one/a.py", "packages/one/gen/x", "packages/one/data/x")
    (top / ".git").mkdir()
    rules(tmp_path, "*.py")
    rules(top, "*.log", "/packages/one/gen", "/data")
    rules(top / "packages", "one/data")
    assert listed(top / "packages/one") == {"a.py"}


def test_without_a_git_top_level_nothing_above_the_root_applies(tmp_path: Path) -> None:
    plant(tmp_path, "root/a.log")
    rules(tmp_path, "*.log")
    assert listed(tmp_path / "root") == {"a.log"}


def test_a_linked_work_tree_is_a_top_level_too(tmp_path: Path) -> None:
    plant(tmp_path, "tree/sub/a.log", "tree/.git")
    rules(tmp_path, "sub")
    rules(tmp_path / "tree", "*.log")
    assert listed(tmp_path / "tree/sub") == set()


@pytest.mark.parametrize("line", ["private/", "private/notes", "*", "notes"])
def test_whoever_names_an_ignored_directory_gets_it(tmp_path: Path, line: str) -> None:
    plant(tmp_path, ".git/config", "private/notes/a", "private/notes/b.log")
    rules(tmp_path, line, "*.log")
    assert listed(tmp_path / "private/notes") == {"a", "b.log"}
    assert "private/notes/a" not in listed(tmp_path)


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    plant(tmp_path, "a", "b", "c")
    rules(tmp_path, "[", "b[", "x\\", "[z-a]", "!", "/", "//", "\udcff\udcfe", "a\0b", "***", "!**", "c")
    assert listed(tmp_path) == {"a", "b"}


def test_an_unreadable_ignore_file_is_reported_and_the_rest_is_honoured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, ".git/config", "root/a.log", "root/sub/b.tmp")
    rules(tmp_path, "*.log")
    rules(tmp_path / "root", "*")
    rules(tmp_path / "root", "*.tmp", name=".ignore")
    open_file, refused = os.open, [str(tmp_path / ".gitignore"), str(tmp_path / "root/.gitignore")]

    def refusing(path: str, flags: int) -> int:
        if path in refused:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return open_file(path, flags)

    monkeypatch.setattr(os, "open", refusing)
    found = discover(tmp_path / "root")
    assert [candidate.external_id for candidate in found.candidates if "ignore" not in candidate.external_id] == ["a.log"]
    assert [(skip.path, skip.reason.value) for skip in found.skips] == [
        ("../.gitignore", "unreadable"),
        (".gitignore", "unreadable"),
        ("sub/b.tmp", "ignored"),
    ]


def test_an_ignore_file_that_is_a_link_a_pipe_or_a_directory_has_no_say(tmp_path: Path) -> None:
    plant(tmp_path, "rules", "a", "sub/b", "deep/c", "top/.git", "top/root/d")
    (tmp_path / "rules").write_text("*")
    (tmp_path / ".gitignore").symlink_to("rules")
    os.mkfifo(tmp_path / "sub/.gitignore")
    (tmp_path / "deep/.gitignore").mkdir()
    (tmp_path / "top/.gitignore").symlink_to("../rules")
    os.mkfifo(tmp_path / "top/.ignore")
    assert listed(tmp_path) == {"rules", "a", "sub/b", "deep/c", "top/.git", "top/root/d"}
    assert listed(tmp_path / "top/root") == {"d"}


@pytest.mark.parametrize(
    "line",
    [
        "*a*a*a*a*a*a*a*a*a*a*a*a*b",
        "**/d/**/d/**/d/**/d/**/d/**/*b",
        "**/*d*/**/d*/**/?/**/*a*a*a*a*a*a*b",
        "*[a]*[a]*[a]*[a]*[a]*[a]*[a]*b",
    ],
)
def test_a_hostile_line_cannot_stall_the_walk(tmp_path: Path, line: str) -> None:
    deep = "/".join("d" * 200)
    plant(tmp_path, "a" * 250, f"{deep}/{'a' * 250}", f"{deep}/{'a' * 249}b")
    rules(tmp_path, line)
    assert f"{deep}/{'a' * 250}" in listed(tmp_path)
    assert f"{deep}/{'a' * 249}b" not in listed(tmp_path)


def test_pairs_that_mean_something_in_python_sets_are_plain_characters(tmp_path: Path) -> None:
    plant(tmp_path, "a[", "a&", "a~", "a|", "a--b", "a&&b", "c")
    rules(tmp_path, "a[[]", "a[&&]", "a[x~~]", "a[||]", "a&&b")
    assert listed(tmp_path) == {"a--b", "c"}
    rules(tmp_path, "a[[x]", "[b-c]", "a--b")
    assert listed(tmp_path) == {"a&", "a~", "a|", "a&&b"}


NAMES = ("a", "b", "ab", "abc", "a.py", "b.log", "keep.log", "x y", "foo", "Foo", "a[b]", "#h", "!n", "two\nlines", "^x", "a-b")
PARTS = (
    "a",
    "b",
    "*",
    "?",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "**",
    ".py",
    ".log",
    "foo",
    "\\*",
    "[[:alpha:]]",
    "[![:punct:]]",
    "[[]",
)


def _generated_line(chance: random.Random) -> str:
    def segment() -> str:
        if chance.random() < 0.5:
            return chance.choice([*NAMES[:11], "*", "**"])
        return "".join(chance.choices(PARTS, k=chance.randint(1, 3)))

    line = "/".join(segment() for _ in range(chance.choice([1, 1, 1, 2, 2, 3])))
    prefix, suffix = chance.choice(["", "", "/"]), chance.choice(["", "", "/", " ", "\r"])
    return chance.choice(["", "", "!"]) + prefix + line + suffix


def _generated_repository(root: Path, chance: random.Random) -> None:
    directories = [root]
    for _ in range(8):
        directory = chance.choice(directories) / chance.choice(NAMES)
        if not directory.exists():
            directory.mkdir()
            directories.append(directory)
    for directory in directories:
        for name in chance.sample(NAMES, 6):
            if not (directory / name).exists():
                (directory / name).write_text("text")
        if directory == root or chance.random() < 0.4:
            rules(directory, *(_generated_line(chance) for _ in range(chance.randint(1, 6))), "")


def _not_ignored_by_git(root: Path) -> set[str]:
    files = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(root), "-c", f"core.excludesFile={os.devnull}", "check-ignore", "-z", "--stdin", "--no-index"]
    answer = subprocess.run(command, input="\0".join(files).encode(), capture_output=True, env=environment, check=False)
    assert answer.returncode in (0, 1), answer.stderr
    return set(files) - set(answer.stdout.decode().split("\0"))


@needs_git
@pytest.mark.parametrize("seed", range(12))
def test_generated_repositories_are_judged_as_git_check_ignore_does(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    _generated_repository(tmp_path, chance)
    assert {candidate.external_id for candidate in discover(tmp_path).candidates} == _not_ignored_by_git(tmp_path)
