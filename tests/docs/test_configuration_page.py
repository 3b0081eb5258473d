"""docs/configuration.md tells of every key and variable, and no page of one that does not exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from memcastle_site import conf
from tests.docs.pages import blocks, page, pages, rows, section, sources

KEYS = {described.key: described for described in conf.described_keys()}
TABLES = "|".join({key.partition(".")[0] for key in KEYS})
_KEY = re.compile(rf"(?<![\w./-])(?:{TABLES})\.(?!py\b)[a-z_]+(?![\w/(])")
_VARIABLE = re.compile(r"\bMEMCASTLE_[A-Z_]*[A-Z]\b")


def table() -> dict[str, list[str]]:
    """The rows of the tables of keys, by key."""
    return {row[0].strip("`"): row for row in rows(page("configuration.md")) if row[0].strip("`") in KEYS}


def test_every_key_has_a_row_with_its_variable_and_default() -> None:
    described = table()
    assert described.keys() == KEYS.keys()
    for key, row in described.items():
        variable, default = KEYS[key].env, KEYS[key].default
        assert row[1] == (f"`{variable}`" if variable else "–"), key
        assert row[3] == (f"`{default}`" if default else "none"), key
        assert row[4], key


def test_a_row_stands_under_the_heading_of_its_table() -> None:
    for key in KEYS:
        assert f"| `{key}` |" in section(page("configuration.md"), key.partition(".")[0])


def test_every_variable_that_the_code_reads_is_described() -> None:
    read = {variable for _, text in sources() for variable in _VARIABLE.findall(text)}
    described = {cell.strip("`") for row in rows(page("configuration.md")) for cell in row[:2]}
    assert read == {variable for variable in described if variable.startswith("MEMCASTLE_")}


def test_no_page_names_a_variable_or_key_that_nothing_reads() -> None:
    read = {variable for _, text in sources() for variable in _VARIABLE.findall(text)}
    for name, text in pages().items():
        assert set(_VARIABLE.findall(text)) <= read, name
        assert set(_KEY.findall(text)) <= KEYS.keys(), name


def test_the_example_file_is_accepted_as_it_stands(tmp_path: Path) -> None:
    (example,) = blocks(section(page("configuration.md"), "Example"), "toml")
    file = tmp_path / "config.toml"
    file.write_text(example)
    loaded = conf.load({"config": str(file)}, {"HOME": str(tmp_path)})
    assert (loaded.unknown, loaded.unused) == ((), ())
    assert loaded.section(conf.PalaceConfig).path == Path(tomllib.loads(example)["palace"]["path"])
