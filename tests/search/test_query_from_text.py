"""The doors that speak in texts share one converter, its refusals and the options they blame."""

from __future__ import annotations

from typing import Any

import pytest

from palace.domain.drawer import SOURCE_KINDS
from palace.errors import InvalidInput
from search.domain.query import AsOf, Between, Current, Everything, Ranking, Scope, SearchQuery, SourceKind, query_from_text


def blamed(**options: Any) -> str:
    with pytest.raises(InvalidInput) as refusal:
        query_from_text(q="words", **options)
    assert refusal.value.status == 400
    assert refusal.value.help
    return refusal.value.field


def test_words_alone_are_a_query() -> None:
    assert query_from_text(q="words") == SearchQuery(
        text="words",
        ranking=Ranking.AUTO,
        limit=0,
        scope=Scope(wing=None, room=None, tags=(), source_kind=None),
        temporal=Current(),
        expand=False,
        query_embedding=None,
    )


def test_an_empty_text_is_a_query() -> None:
    assert query_from_text(q="").text == ""


def test_names_are_taken_as_they_are() -> None:
    assert query_from_text(q=" a ", wing=" My Wing ", room="Ünïcode").scope == Scope(wing=" My Wing ", room="Ünïcode")
    assert query_from_text(q=" a ").text == " a "


@pytest.mark.parametrize("written", ["hybrid", " Hybrid ", "HYBRID\n"])
def test_a_ranking_is_read_in_any_case(written: str) -> None:
    assert query_from_text(q="", ranking=written).ranking is Ranking.HYBRID


@pytest.mark.parametrize("written", ["note", " Note", "NOTE"])
def test_a_source_kind_is_read_in_any_case(written: str) -> None:
    assert query_from_text(q="", source_kind=written).scope.source_kind is SourceKind.NOTE


def test_the_source_kinds_are_those_of_drawers() -> None:
    assert tuple(SourceKind) == SOURCE_KINDS


@pytest.mark.parametrize("written", ["", "bm25", "auto,lexical"])
def test_an_unknown_ranking_is_refused(written: str) -> None:
    assert blamed(ranking=written) == "ranking"


@pytest.mark.parametrize("written", ["", "files", "null"])
def test_an_unknown_source_kind_is_refused(written: str) -> None:
    assert blamed(source_kind=written) == "source_kind"


def test_a_refusal_lists_what_is_accepted() -> None:
    with pytest.raises(InvalidInput, match="auto, lexical, semantic, hybrid"):
        query_from_text(q="", ranking="best")


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ((), ()),
        ("", ()),
        (" , ,", ()),
        ("a, b c ,,a", ("a", "b c")),
        (["a", " b ", "", "c,d"], ("a", "b", "c,d")),
    ],
)
def test_tags_are_trimmed_and_empty_ones_dropped(tags: list[str] | str, expected: tuple[str, ...]) -> None:
    assert query_from_text(q="", tags=tags).scope.tags == expected


@pytest.mark.parametrize("limit", [0, 1, 5000, 2**32 - 1])
def test_no_limit_is_too_large(limit: int) -> None:
    assert query_from_text(q="", limit=limit).limit == limit


@pytest.mark.parametrize("limit", [-1, 2**32])
def test_a_limit_beyond_32_bits_is_refused(limit: int) -> None:
    assert blamed(limit=limit) == "query"


def test_an_instant_is_brought_to_utc() -> None:
    assert query_from_text(q="", as_of=" 2026-03-01T08:30:00.5+09:00 ").temporal == AsOf("2026-02-28T23:30:00.500000000Z")


def test_a_date_is_midnight_utc_at_its_start_whatever_the_machine_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    assert query_from_text(q="", from_="2026-03-01", until="2026-03-02").temporal == Between(
        "2026-03-01T00:00:00.000000000Z", "2026-03-02T00:00:00.000000000Z"
    )


def test_history_is_no_time_filter() -> None:
    assert query_from_text(q="", include_historical=True).temporal == Everything()


DAY, NEXT = "2026-03-01", "2026-03-02"


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"as_of": DAY, "from_": DAY, "until": NEXT}, "as_of"),
        ({"as_of": DAY, "until": NEXT}, "as_of"),
        ({"as_of": DAY, "include_historical": True}, "as_of"),
        ({"from_": DAY, "until": NEXT, "include_historical": True}, "from"),
        ({"until": NEXT, "include_historical": True}, "from"),
        ({"as_of": "nonsense", "include_historical": True}, "as_of"),
        ({"from_": DAY}, "until"),
        ({"until": NEXT}, "from"),
        ({"from_": DAY, "until": DAY}, "from"),
        ({"from_": NEXT, "until": DAY}, "from"),
        ({"from_": "2026-03-01T01:00:00+01:00", "until": "2026-03-01T00:00:00Z"}, "from"),
        ({"as_of": ""}, "as_of"),
        ({"as_of": "yesterday"}, "as_of"),
        ({"as_of": "March 2026"}, "as_of"),
        ({"as_of": "2026-02-30"}, "as_of"),
        ({"as_of": "2026-03-01T12:00:00"}, "as_of"),
        ({"as_of": "0000-01-01"}, "as_of"),
        ({"as_of": "0001-01-01T00:00:00+01:00"}, "as_of"),
        ({"as_of": "9999-12-31T23:59:59.999999999Z"}, "as_of"),
        ({"from_": "soon", "until": NEXT}, "from"),
        ({"from_": DAY, "until": "later"}, "until"),
    ],
)
def test_a_time_that_cannot_be_meant_is_refused(options: dict[str, Any], option: str) -> None:
    assert blamed(**options) == option


def test_the_refusal_of_an_instant_shows_the_accepted_forms() -> None:
    with pytest.raises(InvalidInput, match=r"2026-03-01T12:00:00Z.*2026-03-01, midnight UTC"):
        query_from_text(q="", as_of="yesterday")
