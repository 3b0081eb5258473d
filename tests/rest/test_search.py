"""Search over REST: both forms, every parameter, what each refusal blames."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.rest.support import DRAWER, HIT, path, refused
from tests.support import Answer, Daemon


@pytest.fixture(scope="module")
def library(rest: Daemon, tmp_path_factory: pytest.TempPathFactory) -> Daemon:
    """Texts about zebras in two wings, written by hand and mined."""
    for wing, room, texts in (
        ("savanna", "day", ("zebra grazing", "zebra and lion", "lion asleep")),
        ("savanna", "night", ("zebra asleep", "parseConfigFile of a zebra", "斑马 我们决定使用图数据库")),
        ("zoo", "day", ("zebra behind bars",)),
    ):
        for text in texts:
            rest.post(path("wings", wing, "rooms", room, "drawers"), {"content": text})
    tree: Path = tmp_path_factory.mktemp("herd")
    (tree / "mined.txt").write_text("zebra from a file\n")
    assert rest.mine(tree, wing="mined")["status"] == "completed"
    return rest


def ask(rest: Daemon, **parameters: object) -> Answer:
    return rest.request("GET", "/api/search?" + urlencode(parameters))


def found(rest: Daemon, **parameters: object) -> set[str]:
    answer = ask(rest, **parameters)
    assert answer.status == 200, answer.text
    return {hit["content"].strip() for hit in answer.json}


def posted(rest: Daemon, **fields: Any) -> set[str]:
    return {hit["content"].strip() for hit in rest.post("/api/search", fields)}


def test_a_hit_is_a_drawer_with_its_place_and_its_score(library: Daemon) -> None:
    (hit,) = library.get("/api/search?q=bars")
    assert set(hit) == HIT
    assert (hit["wing_name"], hit["room_name"], hit["embedding"]) == ("zoo", "day", None)
    assert hit["score"] > 0
    assert hit["signals"] == {"lexical": hit["score"]}
    drawer = library.get(path("wings", "zoo", "rooms", "day", "drawers", hit["id"]))
    assert {key: hit[key] for key in DRAWER} == drawer


def test_a_mined_hit_says_where_it_came_from(library: Daemon) -> None:
    (hit,) = library.get("/api/search?q=zebra&wing=mined")
    assert set(hit) == HIT
    assert set(hit["source"]) == {"kind", "uri", "agent", "origin"}
    assert hit["source"]["kind"] == "file"
    assert {"source_id", "source", "document", "chunk", "revision"} <= set(hit["source"]["origin"])
    assert (hit["source"]["origin"]["document"], hit["source"]["origin"]["chunk"]) == ("mined.txt", 0)
    assert None not in hit["source"]["origin"].values()
    assert hit["provenance"]["job_id"] is not None


def test_the_words_go_by_two_names(library: Daemon) -> None:
    assert found(library, q="lion asleep") == found(library, query="lion asleep") == {"lion asleep"}
    assert found(library, q="图数据库") == {"斑马 我们决定使用图数据库"}
    assert found(library, q="config") == {"parseConfigFile of a zebra"}
    refused(ask(library, q="a", query="a"), 400, "input::invalid", "query")
    refused(ask(library, q="", query=""), 400, "input::invalid", "query")


def test_no_words_find_nothing_and_no_parameter_is_refused(library: Daemon) -> None:
    assert found(library, q="") == found(library, query="") == found(library, q="   ") == set()
    refused(ask(library), 400, "input::invalid", "query")
    refused(ask(library, wing="zoo"), 400, "input::invalid", "query")


def test_scope_by_name(library: Daemon) -> None:
    assert found(library, q="zebra", wing="zoo") == {"zebra behind bars"}
    assert found(library, q="zebra", room="day") == {"zebra grazing", "zebra and lion", "zebra behind bars"}
    assert found(library, q="zebra", wing="savanna", room="night") == {"zebra asleep", "parseConfigFile of a zebra"}
    zoo = library.get("/api/wings/zoo")["wing"]["id"]
    for scope in ({"wing": "nowhere"}, {"wing": zoo}, {"room": "nowhere"}, {"wing": "Zoo"}, {"wing": ""}):
        assert found(library, q="zebra", **scope) == set()


def test_kinds_and_tags(library: Daemon) -> None:
    assert found(library, q="zebra", source_kind="file") == {"zebra from a file"}
    assert "zebra from a file" not in found(library, q="zebra", source_kind=" Manual ")
    assert found(library, q="zebra", source_kind="note") == set()
    assert found(library, q="zebra", tags="striped") == found(library, q="zebra", tag="striped") == set()
    assert found(library, q="zebra", tags=" ,") == found(library, q="zebra")
    refused(ask(library, q="zebra", tags="a", tag="b"), 400, "input::invalid", "query")


def test_limits_follow_the_common_rule(library: Daemon) -> None:
    assert len(found(library, q="zebra", limit=2)) == 2
    everything = found(library, q="zebra")
    assert everything == found(library, q="zebra", limit=0) == found(library, q="zebra", limit=100_000)


def test_rankings(library: Daemon) -> None:
    right = found(library, q="zebra")
    for ranking in ("auto", "lexical", " LEXICAL ", "Auto"):
        assert found(library, q="zebra", ranking=ranking) == right
    for ranking in ("semantic", "hybrid", "Semantic"):
        refused(ask(library, q="zebra", ranking=ranking), 400, "search::semantic_unavailable")
    refused(ask(library, q="zebra", ranking="best"), 400, "input::invalid", "ranking")


def test_times(library: Daemon) -> None:
    assert found(library, q="bars", as_of="2020-01-01") == set()
    assert found(library, q="bars", as_of="9998-01-01") == {"zebra behind bars"}
    assert found(library, q="bars", **{"from": "2020-01-01", "until": "9998-01-01"}) == {"zebra behind bars"}
    assert found(library, q="bars", include_historical="true") == {"zebra behind bars"}
    assert found(library, q="bars", include_historical="false", as_of="2020-01-01") == set()
    assert found(library, q="bars", expand="true") == {"zebra behind bars"}


REFUSED = (
    ({"source_kind": "files"}, "source_kind"),
    ({"source_kind": ""}, "source_kind"),
    ({"ranking": ""}, "ranking"),
    ({"as_of": "yesterday"}, "as_of"),
    ({"as_of": "March 2026"}, "as_of"),
    ({"as_of": "2026-13-01"}, "as_of"),
    ({"as_of": "2026-03-01T00:00:00"}, "as_of"),
    ({"as_of": ""}, "as_of"),
    ({"from": "2026-03-01"}, "until"),
    ({"until": "2026-03-01"}, "from"),
    ({"from": "2026-03-01", "until": "2026-03-01"}, "from"),
    ({"from": "2026-03-02", "until": "2026-03-01"}, "from"),
    ({"from": "soon", "until": "2026-03-01"}, "from"),
    ({"from": "2026-03-01", "until": "later"}, "until"),
    ({"as_of": "2026-03-01", "include_historical": "true"}, "as_of"),
    ({"as_of": "2026-03-01", "from": "2026-03-01", "until": "2026-03-02"}, "as_of"),
    ({"from": "2026-03-01", "until": "2026-03-02", "include_historical": "true"}, "from"),
    ({"expand": "1"}, "query"),
    ({"include_historical": "yes"}, "query"),
    ({"limit": "-1"}, "query"),
)


@pytest.mark.parametrize(
    ("parameters", "blamed"), REFUSED, ids=lambda value: urlencode(value) if isinstance(value, dict) else ""
)
def test_the_query_string_is_refused_for_the_option_at_fault(library: Daemon, parameters: dict[str, str], blamed: str) -> None:
    refused(ask(library, q="zebra", **parameters), 400, "input::invalid", blamed)


def test_the_body_says_the_same_as_the_query_string(library: Daemon) -> None:
    assert posted(library, text="zebra") == posted(library, query="zebra") == found(library, q="zebra")
    assert posted(library, text="zebra", filter={"wing": "zoo"}) == {"zebra behind bars"}
    assert posted(library, text="zebra", filter={"room": "day", "wing": None}) == found(library, q="zebra", room="day")
    assert posted(library, text="zebra", filter={"source_kind": "file"}) == {"zebra from a file"}
    assert posted(library, text="zebra", filter={"tags": ["striped"]}) == set()
    assert len(posted(library, text="zebra", limit=2)) == 2
    assert posted(library, text="zebra", ranking="lexical", expand=True, limit=0) == found(library, q="zebra")


def test_every_field_of_the_body_may_be_left_out(library: Daemon) -> None:
    assert posted(library) == posted(library, filter={}) == posted(library, text="") == set()
    assert posted(library, text="bars", filter={"temporal": "current"}) == {"zebra behind bars"}


def test_a_scope_beside_the_filter_is_ignored(library: Daemon) -> None:
    assert posted(library, text="zebra", wing="zoo", room="day", tags=["x"]) == found(library, q="zebra")


def test_an_unknown_source_kind_in_a_body_is_other(library: Daemon) -> None:
    assert posted(library, text="zebra", filter={"source_kind": "bogus"}) == set()
    assert posted(library, text="zebra", filter={"source_kind": "File"}) == set()


def test_times_in_a_body(library: Daemon) -> None:
    def at(temporal: Any) -> set[str]:
        return posted(library, text="bars", filter={"temporal": temporal})

    assert at("all") == at({"as_of": "9998-01-01T00:00:00Z"}) == {"zebra behind bars"}
    assert at({"as_of": "2020-01-01T00:00:00+09:00"}) == set()
    assert at({"between": {"from": "2020-01-01T00:00:00Z", "until": "9998-01-01T00:00:00Z"}}) == {"zebra behind bars"}
    assert at({"between": {"from": "2020-01-01T00:00:00Z", "until": "2021-01-01T00:00:00Z"}}) == set()


REFUSED_BODIES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"text": "a", "query": "a"}, "body"),
    ({"text": 1}, "body"),
    ({"text": None}, "body"),
    ({"ranking": "Lexical"}, "body"),
    ({"ranking": None}, "body"),
    ({"limit": -1}, "body"),
    ({"limit": 1.5}, "body"),
    ({"limit": "10"}, "body"),
    ({"limit": 2**32}, "body"),
    ({"limit": True}, "body"),
    ({"expand": 1}, "body"),
    ({"filter": []}, "body"),
    ({"filter": {"wing": 1}}, "body"),
    ({"filter": {"tags": "a"}}, "body"),
    ({"filter": {"tags": [1]}}, "body"),
    ({"filter": {"source_kind": 1}}, "body"),
    ({"filter": {"temporal": "2026-03-01"}}, "body"),
    ({"filter": {"temporal": {"as_of": "2026-03-01"}}}, "body"),
    ({"filter": {"temporal": {"as_of": None}}}, "body"),
    ({"filter": {"temporal": {"between": {"from": "2026-03-01T00:00:00Z"}}}}, "body"),
    ({"filter": {"temporal": {"between": {"from": "2026-03-02T00:00:00Z", "until": "2026-03-01T00:00:00Z"}}}}, "temporal"),
    ({"filter": {"temporal": {"between": {"from": "2026-03-01T00:00:00Z", "until": "2026-03-01T01:00:00+01:00"}}}}, "temporal"),
    ({"query_embedding": "x"}, "body"),
    ({"query_embedding": ["x"]}, "body"),
)


@pytest.mark.parametrize(("fields", "blamed"), REFUSED_BODIES, ids=repr)
def test_the_body_is_refused_for_the_field_at_fault(library: Daemon, fields: dict[str, Any], blamed: str) -> None:
    refused(library.request("POST", "/api/search", fields), 400, "input::invalid", blamed)


@pytest.mark.parametrize("ranking", ["semantic", "hybrid"])
def test_a_body_that_asks_for_vectors(library: Daemon, ranking: str) -> None:
    for text in ("zebra", " "):
        refused(library.request("POST", "/api/search", {"text": text, "ranking": ranking}), 400, "search::semantic_unavailable")


def test_a_drawer_is_found_by_the_request_after_the_one_that_stored_it(library: Daemon) -> None:
    target = path("wings", "fresh", "rooms", "r", "drawers")
    for number in range(10):
        drawer = library.post(target, {"content": f"okapi number {number}"})
        assert drawer["id"] in {hit["id"] for hit in library.get("/api/search?q=okapi&limit=200")}
        library.request("DELETE", f"{target}/{drawer['id']}")
        assert library.get("/api/search?q=okapi&include_historical=true") == []
