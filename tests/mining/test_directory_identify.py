"""Which directory is meant, and what its options may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from mining.adapters.registry import adapter
from palace.errors import FileFailed, InvalidInput

DIRECTORY = adapter("directory")


def test_equivalent_spellings_give_one_identity(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tree)
    spellings = [f"{tree}", f"{tree}/", f"{tree}/sub/..", f"//{str(tree)[1:]}", f"{tmp_path}/link", f"{tmp_path}/./tree"]
    assert {DIRECTORY.identify(spelling, {}).locator for spelling in spellings} == {str(tree.resolve())}


def test_a_path_in_any_script_is_a_place(tmp_path: Path) -> None:
    tree = tmp_path / "图 数据\n库"
    tree.mkdir()
    ref = DIRECTORY.identify(str(tree), {})
    assert (ref.source, ref.account, ref.locator, dict(ref.options)) == ("directory", None, str(tree.resolve()), {})


@pytest.mark.parametrize("locator", [None, "", "notes", "./notes", "~/notes", "/tmp/\0x", "/tmp/\udce9"])
def test_what_is_no_absolute_path_is_refused(locator: str | None) -> None:
    with pytest.raises(InvalidInput) as caught:
        DIRECTORY.identify(locator, {})
    assert caught.value.field == "path"


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput) as caught:
        DIRECTORY.identify(str(tmp_path / "file"), {})
    assert caught.value.field == "path"


def test_a_link_to_a_directory_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "\udcff").mkdir()
    (tmp_path / "link").symlink_to("\udcff")
    with pytest.raises(InvalidInput) as caught:
        DIRECTORY.identify(str(tmp_path / "link"), {})
    assert caught.value.field == "path"


@pytest.mark.parametrize("missing", ["nowhere", "file/below", "loop"])
def test_a_place_that_is_not_there_fails_naming_the_path(tmp_path: Path, missing: str) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileFailed, match=missing):
        DIRECTORY.identify(str(tmp_path / missing), {})


def test_options_come_back_normalised(tmp_path: Path) -> None:
    ref = DIRECTORY.identify(str(tmp_path), {"since": "2026-09", "ignore": "off"})
    assert dict(ref.options) == {"since": "2026-09-01T00:00:00.000000000Z", "ignore": "off"}


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"sinse": "2026"}, "options"),
        ({"dir": "/tmp"}, "options"),
        ({"since": "soon"}, "since"),
        ({"ignore": "false"}, "ignore"),
    ],
)
def test_an_option_that_is_not_accepted_is_refused_by_name(tmp_path: Path, options: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        DIRECTORY.identify(str(tmp_path), options)
    assert caught.value.field == field


def test_an_unknown_option_is_answered_with_the_accepted_ones(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="since, ignore"):
        DIRECTORY.identify(str(tmp_path), {"sinse": "2026"})


def test_every_option_is_declared_on_one_line() -> None:
    assert [(option.name, option.type, option.breadth) for option in DIRECTORY.options] == [
        ("since", "date", "since"),
        ("ignore", "string", None),
    ]
    assert all(option.description and "\n" not in option.description for option in DIRECTORY.options)
