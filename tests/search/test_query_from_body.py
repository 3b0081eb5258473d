"""The JSON form of a query is read strictly."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palace.errors import InvalidInput
from search.domain.query import (
    AsOf,
    Between,
    Current,
    Everything,
    Ranking,
    Scope,
    SearchQuery,
    SourceKind,
    query_from_body,
    query_from_text,
)

MORNING, NOON = "2026-03-01T08:00:00Z", "2026-03-01T12:00:00Z"


def test_an_empty_object_is_the_query_of_no_words() -> None:
    assert query_from_body({}) == query_from_text(q="")


def test_every_field_is_read() -> None:
    body = {
        "text": "words",
        "ranking": "hybrid",
        "limit": 5,
        "filter": {"wing": "w", "room": "r", "tags": ["a", "b"], "source_kind": "file", "temporal": "all"},
        "expand": True,
        "query_embedding": [1, -0.5, 1e-9],
    }
    assert query_from_body(body) == SearchQuery(
        text="words",
        ranking=Ranking.HYBRID,
        limit=5,
        scope=Scope("w", "r", ("a", "b"), SourceKind.FILE),
        temporal=Everything(),
        expand=True,
        query_embedding=(1.0, -0.5, 1e-9),
    )


def test_query_is_another_name_of_text() -> None:
    assert query_from_body({"query": "words"}).text == "words"


def test_text_and_query_together_are_refused() -> None:
    with pytest.raises(InvalidInput) as refusal:
        query_from_body({"text": "words", "query": "words"})
    assert refusal.value.field == "body"


def test_unknown_fields_are_ignored_and_the_scope_is_nested() -> None:
    assert query_from_body({"wing": "w", "colour": 1, "filter": {"depth": 2}}) == query_from_body({})


def test_absent_values_may_be_null_where_they_are_optional() -> None:
    filters = {"wing": None, "room": None, "source_kind": None}
    assert query_from_body({"filter": filters, "query_embedding": None}) == query_from_body({})


@pytest.mark.parametrize("kind", ["email", "File", ""])
def test_an_unknown_source_kind_is_other(kind: str) -> None:
    assert query_from_body({"filter": {"source_kind": kind}}).scope.source_kind is SourceKind.OTHER


def test_tags_are_taken_as_they_are() -> None:
    assert query_from_body({"filter": {"tags": [" a,b ", "c", "c"]}}).scope.tags == (" a,b ", "c")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("current", Current()),
        ("all", Everything()),
        ({"as_of": NOON}, AsOf("2026-03-01T12:00:00.000000000Z")),
        ({"as_of": "2026-03-01T12:00:00+05:30"}, AsOf("2026-03-01T06:30:00.000000000Z")),
        (
            {"between": {"from": MORNING, "until": NOON, "note": "ignored"}},
            Between("2026-03-01T08:00:00.000000000Z", "2026-03-01T12:00:00.000000000Z"),
        ),
    ],
)
def test_the_forms_of_time(written: object, meant: object) -> None:
    assert query_from_body({"filter": {"temporal": written}}).temporal == meant


@pytest.mark.parametrize("until", [MORNING, "2026-03-01T07:59:59Z", "2026-03-01T09:00:00+01:00"])
def test_an_empty_window_blames_temporal(until: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        query_from_body({"filter": {"temporal": {"between": {"from": MORNING, "until": until}}}})
    assert refusal.value.field == "temporal"


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ([], "the body"),
        (None, "the body"),
        ({"text": 1}, "text"),
        ({"text": None}, "text"),
        ({"query": ["words"]}, "query"),
        ({"ranking": "Hybrid"}, "ranking"),
        ({"ranking": " hybrid"}, "ranking"),
        ({"ranking": None}, "ranking"),
        ({"limit": -1}, "limit"),
        ({"limit": 2**32}, "limit"),
        ({"limit": 10.0}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": "10"}, "limit"),
        ({"expand": "true"}, "expand"),
        ({"expand": 1}, "expand"),
        ({"filter": None}, "filter"),
        ({"filter": "wing"}, "filter"),
        ({"filter": {"wing": 1}}, "filter.wing"),
        ({"filter": {"room": ["r"]}}, "filter.room"),
        ({"filter": {"tags": "a"}}, "filter.tags"),
        ({"filter": {"tags": None}}, "filter.tags"),
        ({"filter": {"tags": ["a", 1]}}, "filter.tags[1]"),
        ({"filter": {"source_kind": 1}}, "filter.source_kind"),
        ({"filter": {"temporal": None}}, "filter.temporal"),
        ({"filter": {"temporal": "Current"}}, "filter.temporal"),
        ({"filter": {"temporal": {}}}, "filter.temporal"),
        ({"filter": {"temporal": ["all"]}}, "filter.temporal"),
        ({"filter": {"temporal": {"as_of": NOON, "between": {}}}}, "filter.temporal"),
        ({"filter": {"temporal": {"as_of": 1772366400}}}, "filter.temporal.as_of"),
        ({"filter": {"temporal": {"as_of": "2026-03-01"}}}, "filter.temporal.as_of"),
        ({"filter": {"temporal": {"as_of": "2026-02-30T00:00:00Z"}}}, "filter.temporal.as_of"),
        ({"filter": {"temporal": {"as_of": "9999-12-31T23:59:59.999999999Z"}}}, "filter.temporal.as_of"),
        ({"filter": {"temporal": {"between": [MORNING, NOON]}}}, "filter.temporal.between"),
        ({"filter": {"temporal": {"between": {"from": MORNING}}}}, "filter.temporal.between.until"),
        ({"filter": {"temporal": {"between": {"from": "now", "until": NOON}}}}, "filter.temporal.between.from"),
        ({"query_embedding": "0.1"}, "query_embedding"),
        ({"query_embedding": {"0": 1}}, "query_embedding"),
        ({"query_embedding": [0.1, "0.2"]}, "query_embedding[1]"),
        ({"query_embedding": [True]}, "query_embedding[0]"),
        ({"query_embedding": [0.1, None]}, "query_embedding[1]"),
        ({"query_embedding": [math.nan]}, "query_embedding[0]"),
        ({"query_embedding": [1.0, math.inf]}, "query_embedding[1]"),
        ({"query_embedding": [10**400]}, "query_embedding[0]"),
    ],
)
def test_a_wrong_value_blames_the_body_and_names_its_place(body: object, place: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        query_from_body(body)
    assert refusal.value.field == "body"
    assert refusal.value.message.startswith(f"body: {place} must ") or refusal.value.message == f"body: {place} is missing"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "words", "current", "all", "note", NOON]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["wing", "tags", "temporal", "as_of", "between", "from", "until"]), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = st.sampled_from(["text", "query", "ranking", "limit", "filter", "expand", "query_embedding"])


@settings(deadline=None)
@given(st.dictionaries(FIELDS, JSON, max_size=4))
def test_any_json_is_a_query_or_a_refusal(body: dict[str, Any]) -> None:
    with contextlib.suppress(InvalidInput):
        assert isinstance(query_from_body(body), SearchQuery)
