"""The manual as tests see it: pages, sections, code spans, tables."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
APPS = ("palace", "jobs", "search", "mining", "plugins", "memcastle_site")

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)
_SPAN = re.compile(r"`([^`]+)`")


def pages() -> dict[str, str]:
    """Every page by its path from the root of the project."""
    files = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def page(name: str) -> str:
    """One page of `docs/`."""
    return (DOCS / name).read_text(encoding="utf-8")


def without_blocks(text: str) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", text)


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return [found[2] for found in _FENCE.finditer(text) if found[1] == language]


def headings(text: str) -> list[str]:
    """All headings, outside of fenced blocks."""
    return [found[2] for found in _HEADING.finditer(without_blocks(text))]


def section(text: str, heading: str) -> str:
    """What stands under a heading, down to the next one of the same or a higher level; fenced blocks included."""
    lines = text.split("\n")
    start = next(place for place, line in enumerate(lines) if line.lstrip("#") == f" {heading}" and line.startswith("#"))
    level = len(lines[start]) - len(lines[start].lstrip("#"))
    kept: list[str] = []
    fenced = False
    for line in lines[start + 1 :]:
        fenced ^= line.startswith("```")
        if not fenced and re.match(rf"#{{1,{level}}} ", line):
            break
        kept.append(line)
    return "\n".join(kept)


def spans(text: str) -> list[str]:
    """The code spans of the page, outside of fenced blocks."""
    return _SPAN.findall(without_blocks(text))


def words_in_code(text: str) -> set[str]:
    """Every word of every code span: in `--wing WING` there are `--wing` and `WING`."""
    return {word for span in spans(text) for word in span.split()}


def rows(text: str) -> Iterator[list[str]]:
    """The cells of every table row, headers and rulers included."""
    for line in without_blocks(text).split("\n"):
        if line.startswith("|"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def sources() -> Iterator[tuple[Path, str]]:
    """The program's own modules, without its tests."""
    for app in APPS:
        for file in sorted((ROOT / app).rglob("*.py")):
            yield file, file.read_text(encoding="utf-8")


def project_files() -> list[Path]:
    """Every file that belongs to the project, whether git knows it already or not."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        found = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
        return [file for file in found if file.is_file()]
    hidden = (".venv", ".git", "__pycache__", "node_modules")
    return [file for file in ROOT.rglob("*") if file.is_file() and not set(hidden) & set(file.parts)]
