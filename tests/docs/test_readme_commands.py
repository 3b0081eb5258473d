"""The commands of the Makefile that the manual names exist."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT, blocks, pages, spans

_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
_MAKE = re.compile(r"\bmake (?:[A-Z]+=\S+ )?([a-z][a-z-]*)(?=\s)")


def test_every_make_command_of_the_manual_is_in_the_makefile() -> None:
    targets = set(_TARGET.findall((ROOT / "Makefile").read_text()))
    for name, text in pages().items():
        named = {target for code in [*spans(text), *blocks(text, "sh")] for target in _MAKE.findall(f"{code} ")}
        assert named <= targets, name


def test_the_readme_names_the_two_commands() -> None:
    assert {"serve", "test"} <= set(re.findall(r"^make (\w+)", pages()["README.md"], re.MULTILINE))
