"""Ids of sources and documents, and sources by name. The ids are stored state: these values must never change."""

from __future__ import annotations

import pytest

from mining.adapters.registry import adapter, adapters
from mining.domain.contract import SourceRef, document_key, source_id
from palace.errors import InvalidInput

PLACE = SourceRef("directory", None, "/srv/notes", {})


def test_the_id_of_a_source_is_fixed_for_good() -> None:
    assert source_id(PLACE) == "6c3ae27d-89f0-51d6-b235-832dd91ee8f9"


def test_options_do_not_change_the_identity() -> None:
    assert source_id(SourceRef("directory", None, "/srv/notes", {"since": "2026-09-01T00:00:00.000000000Z"})) == source_id(
        PLACE
    )


def test_source_account_and_locator_each_change_the_identity() -> None:
    others = [
        SourceRef("other", None, "/srv/notes", {}),
        SourceRef("directory", "me", "/srv/notes", {}),
        SourceRef("directory", None, "/srv/notes2", {}),
    ]
    assert len({source_id(ref) for ref in [PLACE, *others]}) == 4


def test_the_key_of_a_document_is_fixed_for_good() -> None:
    assert (
        document_key("00000000-0000-0000-0000-000000000000", "a/b\n图.md")
        == "61005d9aa8d16fc6a5ce4d7b869115fa0d436105f0a0c408d8cd62224a854823"
    )


def test_sources_are_found_by_name() -> None:
    assert [known.name for known in adapters()] == ["directory"]
    assert adapter("directory") is adapters()[0]


def test_an_unknown_source_is_refused_with_the_known_names() -> None:
    with pytest.raises(InvalidInput, match=r"^source: 'nosuch' .* directory$"):
        adapter("nosuch")
