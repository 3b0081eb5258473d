"""Every relative link of the manual leads somewhere, and every page is linked from the README."""

from __future__ import annotations

import re

from tests.docs.pages import DOCS, ROOT, headings, pages, without_blocks

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The anchors that a forge makes of the headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(text)}


def test_no_relative_link_is_broken() -> None:
    texts = pages()
    for name, text in texts.items():
        for target in _LINK.findall(without_blocks(text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (ROOT / name).parent / path if path else ROOT / name
            assert file.exists(), f"{name}: {target}"
            if anchor:
                found = texts[file.resolve().relative_to(ROOT).as_posix()]
                assert anchor in anchors(found), f"{name}: {target}"


def test_the_readme_links_every_page() -> None:
    linked = set(_LINK.findall(pages()["README.md"]))
    assert {f"docs/{file.name}" for file in DOCS.glob("*.md")} <= linked
