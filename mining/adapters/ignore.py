"""Which entries of a tree its `.gitignore` and `.ignore` files leave out, by git's rules.

Later lines win over earlier ones, `.ignore` over `.gitignore` beside it, and files of deeper directories over those
above. Each entry is judged by itself on the way down: what lies below an ignored directory is never reached and so
cannot be taken back in. pathspec translates the patterns; which part of a path a line speaks of is decided here,
because directories have to be judged before anything in them is known.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from mining.adapters.files import read_regular

IGNORE_FILES = (".gitignore", ".ignore")
"""The names of ignore files; a later one wins."""

_MAX_BYTES = 1_048_576
_STARS = re.compile(r"(?:\[\^/\]\*)+")
_GROUP_NAME = re.compile(r"\(\?P<\w+>")
# Python reserves these pairs inside of brackets; outside of them a translated pattern never holds one unescaped.
_SET_OPERATOR = re.compile(r"(?<!\\)(?:\[\[|--|&&|~~|\|\|)")
_LEADING_DOUBLE_STAR = "^(?:.+/)?"
_INNER_DOUBLE_STAR = "(?:/.+)?"
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \t",
    "cntrl": "\x01-\x1f\x7f",
    "digit": "0-9",
    "graph": '"-~!',
    "lower": "a-z",
    "print": " -~",
    "punct": '"-.!:-@[-`{-~',
    "space": " \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_CLASS = re.compile(rf"\[:({'|'.join(_CLASSES)}):\]")
_BRACKET_WITH_CLASS = re.compile(rf"\[(?:[^][]|{_CLASS.pattern})*{_CLASS.pattern}(?:[^][]|{_CLASS.pattern})*\]")


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line. `by_name` lines judge the name of an entry, others its path below the directory of the file."""

    expression: str
    pattern: re.Pattern[str]
    by_name: bool
    only_directories: bool
    ignores: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore files of one directory. `names` and `paths` match whatever some line could match, to rule out most
    entries at once."""

    last_first: tuple[_Rule, ...]
    names: re.Pattern[str] | None
    paths: re.Pattern[str] | None

    def verdict(self, name: str, path: str, *, directory: bool) -> bool | None:
        """True for ignored, False for taken back in, None when no line speaks of the entry."""
        names = self.names is not None and self.names.search(name) is not None
        paths = self.paths is not None and self.paths.search(path) is not None
        if not names and not paths:
            return None
        for rule in self.last_first:
            if rule.only_directories and not directory:
                continue
            match = rule.pattern.search(name if rule.by_name else path)
            # The only group of a translated pattern captures the slash after a matched parent directory.
            if match is not None and match.lastindex is None:
                return rule.ignores
        return None


@dataclass(frozen=True, slots=True)
class IgnoreChain:
    """The rules in force in one directory of a walk, innermost first.

    `base` is the path from the outermost of them to the root of the walk, empty or ending with `/`; beside each rules
    stands where the paths it speaks of begin in `base` plus the path of an entry.
    """

    base: str = ""
    levels: tuple[tuple[Rules, int], ...] = ()

    def entered(self, rules: Rules, below: str) -> IgnoreChain:
        """The chain inside a directory with rules of its own; `below` is its path, empty or ending with `/`."""
        return IgnoreChain(self.base, ((rules, len(self.base) + len(below)), *self.levels))

    def ignores(self, path: str, name: str, *, directory: bool) -> bool:
        """Whether the entry `name` at `path` (relative to the root of the walk) is left out."""
        # No line can hold a newline, and the translated patterns do not expect one.
        whole = (self.base + path).replace("\n", "\0")
        name = name.replace("\n", "\0")
        for rules, start in self.levels:
            verdict = rules.verdict(name, whole[start:], directory=directory)
            if verdict is not None:
                return verdict
        return False


def outer_chain(root: str) -> tuple[IgnoreChain, list[str]]:
    """The rules that come from above `root`, out of the git work tree that holds it, and the paths (relative to the
    root) of ignore files that could not be read.

    Nothing from above counts when it leaves out the root itself: whoever names an ignored directory wants it.
    """
    top = _work_tree(root)
    if top is None or top == root:
        return IgnoreChain(), []
    parts = os.path.relpath(root, top).split("/")
    chain, unreadable = IgnoreChain(), []
    for depth, name in enumerate(parts):
        directory = os.path.join(top, *parts[:depth])
        present = [file for file in IGNORE_FILES if _is_regular(os.path.join(directory, file))]
        rules, failed = load_rules(directory, present)
        unreadable += ["../" * (len(parts) - depth) + file for file in failed]
        if rules is not None:
            chain = chain.entered(rules, "".join(f"{part}/" for part in parts[:depth]))
        if chain.ignores("/".join(parts[: depth + 1]), name, directory=True):
            return IgnoreChain(), unreadable
    return IgnoreChain("".join(f"{part}/" for part in parts), chain.levels), unreadable


def load_rules(directory: str, present: Iterable[str]) -> tuple[Rules | None, list[str]]:
    """The rules of those ignore files that a directory holds (None when there is no line), and the names of those
    that could not be read. Lines that make no pattern are passed over, as git does."""
    rules: list[_Rule] = []
    unreadable = []
    for name in sorted(present, key=IGNORE_FILES.index):
        try:
            content, _ = read_regular(os.path.join(directory, name), _MAX_BYTES)
        except OSError:
            unreadable.append(name)
            continue
        rules.extend(_rules(content))
    if not rules:
        return None, unreadable
    return Rules(tuple(reversed(rules)), _any_of(rules, by_name=True), _any_of(rules, by_name=False)), unreadable


def _work_tree(root: str) -> str | None:
    directory = root
    while not os.path.lexists(os.path.join(directory, ".git")):
        directory, below = os.path.dirname(directory), directory
        if directory == below:
            return None
    return directory


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _rules(content: bytes) -> Iterator[_Rule]:
    lines = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    if len(content) > _MAX_BYTES:
        lines.pop()
    for line in lines:
        rule = _rule(line.removesuffix("\r"))
        if rule is not None:
            yield rule


def _rule(line: str) -> _Rule | None:
    if line.startswith("#") or "\0" in line:
        return None
    line = _without_trailing_spaces(line)
    ignores = not line.startswith("!")
    body = line if ignores else line[1:]
    only_directories = body.endswith("/")
    body = body.removesuffix("/")
    by_name = "/" not in body
    try:
        expression = _expression(body.removeprefix("/"))
        if expression is None:
            return None
        pattern = re.compile(expression)
    except (ValueError, re.error):
        return None
    return _Rule(expression, pattern, by_name, only_directories, ignores)


def _without_trailing_spaces(line: str) -> str:
    kept = line.rstrip(" ")
    escapes = len(kept) - len(kept.rstrip("\\"))
    return f"{kept} " if kept != line and escapes % 2 else kept


def _expression(glob: str) -> str | None:
    """The regular expression of a pattern that is anchored at its directory. Raises ValueError when there is none."""
    glob = _BRACKET_WITH_CLASS.sub(_with_ranges, glob)
    if glob[-1:].isspace() and not glob.endswith("\\ "):
        # pathspec would drop it; git keeps all that is no plain space at the end of a line.
        glob = f"{glob[:-1]}[{glob[-1]}]"
    expression, _ = GitIgnoreSpecPattern.pattern_to_regex(f"/{glob}")
    if expression is None:
        return None
    # Names of groups would clash where the expressions of several lines are joined.
    expression = _GROUP_NAME.sub("(", expression)
    return _linear(_SET_OPERATOR.sub(lambda found: f"{found[0][0]}\\{found[0][1]}", expression))


def _with_ranges(bracket: re.Match[str]) -> str:
    return _CLASS.sub(lambda found: _CLASSES[found[1]], bracket[0])


def _linear(expression: str) -> str:
    """The same expression in a form that is matched in linear time, so that a hostile line cannot stall the walk.

    Between two stars the first place where the text fits is as good as any later one, so all but the last are made
    lazy and atomic: stars within a segment of the path, then double stars over segments.
    """
    first, *others = (_with_atomic_stars(piece) for piece in expression.split(_INNER_DOUBLE_STAR))
    if not others:
        return first
    if first.startswith(_LEADING_DOUBLE_STAR):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_LEADING_DOUBLE_STAR)}(?=/))"
    *inner, last = others
    return first + "".join(f"(?>(?:/.+?)??{piece}(?=/))" for piece in inner) + _INNER_DOUBLE_STAR + last


def _with_atomic_stars(piece: str) -> str:
    first, *others = _STARS.split(piece)
    if not others:
        return first
    *inner, last = others
    return first + "".join(f"(?>[^/]*?{text})" for text in inner) + "[^/]*" + last


def _any_of(rules: Iterable[_Rule], *, by_name: bool) -> re.Pattern[str] | None:
    expressions = [f"(?:{rule.expression})" for rule in rules if rule.by_name is by_name]
    return re.compile("|".join(expressions)) if expressions else None
