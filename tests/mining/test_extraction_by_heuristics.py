"""The extractor without a model: sentences, names, relations, kinds."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mining.domain.extraction.heuristic import extract, sentences
from mining.domain.extraction.results import Bounds, normalized


def names(text: str) -> list[str]:
    return [entity.name for entity in extract(text).entities]


def kinds(text: str) -> dict[str, str]:
    return {entity.name: entity.kind.value for entity in normalized(extract(text), Bounds()).entities}


def relations(text: str) -> list[tuple[str, str, str]]:
    return [(found.subject, found.predicate.value, found.object) for found in extract(text).relations]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One", "Two", "Three", "Four"]),
        ("One.\nTwo\r\n\r\nThree", ["One", "Two", "Three"]),
        ("See node.js v1.2, please.", ["See node.js v1.2, please"]),
        ("Really?! Yes...", ["Really?", "Yes.."]),
        (" \n . \n", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("we met Ada Lovelace in London", ["Ada Lovelace", "London"], id="neighbours form one name"),
        pytest.param("we met Ada, Bob; Carl: Dora", ["Ada", "Bob", "Carl", "Dora"], id="commas part names"),
        pytest.param('we (Ada) Bob and "Carl" Dora', ["Ada", "Bob", "Carl", "Dora"], id="brackets and quotes part names"),
        pytest.param("Ada. Bob", ["Ada", "Bob"], id="sentences part names"),
        pytest.param("Ada\nBob", ["Ada", "Bob"], id="lines part names"),
        pytest.param("Ada — Bob", ["Ada", "Bob"], id="a dash parts names"),
        pytest.param("ask Ada's team", ["Ada"], id="possessive"),
        pytest.param("ask Ada\u2019s team", ["Ada"], id="typographic possessive"),
        pytest.param("run `cargo` with `--release`", ["cargo", "--release"], id="code"),
        pytest.param("run `cargo`, then", ["cargo"], id="code before a comma"),
        pytest.param("run `cargo build` now", [], id="code of two words"),
        pytest.param("run `` and ` and ```", [], id="no code between backticks"),
        pytest.param("Django `manage.py` Channels", ["manage.py", "Django", "Channels"], id="code parts names"),
        pytest.param("ask @ada or @Bob-2.", ["ada", "Bob-2"], id="handles"),
        pytest.param("meet @ 5, mail a@b.com, @x", [], id="no handles"),
        pytest.param("Plan B and C", ["Plan"], id="single letters are no names"),
        pytest.param("the API of OpenSSL 3.0", ["API", "OpenSSL"], id="acronym and mixed case"),
        pytest.param("use _Foo_ and **Bar**", ["Foo", "Bar"], id="emphasis"),
        pytest.param("Émile und Øystein, Елена", ["Émile", "Øystein", "Елена"], id="capitals of other scripts"),
        pytest.param(unicodedata.normalize("NFD", "ask José now"), ["José"], id="an accent written by itself"),
        pytest.param("nothing written with capitals", [], id="plain words"),
        pytest.param("我们决定使用图数据库", [], id="a script without capitals"),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize("opener", ["The", "we", "However", "TODO", "Note", "Today", "It's", "I"])
def test_a_word_that_opens_sentences_is_no_name_there(opener: str) -> None:
    assert names(f"{opener} Django runs") == ["Django"]


@pytest.mark.parametrize("marks", ["- ", "* ", "## ", "> ", "• ", ">> - "])
def test_the_marks_of_lists_and_headings_do_not_hide_the_first_word(marks: str) -> None:
    assert names(f"{marks}The Django page") == ["Django"]


def test_a_word_that_opens_sentences_is_part_of_a_name_elsewhere() -> None:
    assert names("we read The Times") == ["The Times"]


def test_another_word_that_opens_a_sentence_is_a_name() -> None:
    assert names("Django runs") == ["Django"]


def test_only_capitals_can_be_demoted() -> None:
    assert names("`note` is a command. @here is a handle") == ["note", "here"]


@pytest.mark.parametrize(
    ("phrase", "predicate"),
    [
        ("works on", "works_on"),
        ("is working on", "works_on"),
        ("worked on", "works_on"),
        ("is a member of", "member_of"),
        ("is member of", "member_of"),
        ("member of", "member_of"),
        ("belongs to", "member_of"),
        ("joined", "member_of"),
        ("depends on", "depends_on"),
        ("relies on", "depends_on"),
        ("uses", "uses"),
        ("is using", "uses"),
        ("owns", "owns"),
        ("maintains", "owns"),
        ("is part of", "part_of"),
        ("part of", "part_of"),
        ("is located in", "located_in"),
        ("lives in", "located_in"),
        ("is based in", "located_in"),
    ],
)
def test_phrases(phrase: str, predicate: str) -> None:
    assert relations(f"Yesterday Ada {phrase} Castle.") == [("Ada", predicate, "Castle")]
    [found] = extract(f"Ada {phrase} Castle").relations
    assert found.confidence == 0.6


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Ada often uses Castle", id="one word more before"),
        pytest.param("Ada uses the Castle", id="one word more after"),
        pytest.param("Ada, uses Castle", id="a comma after the subject"),
        pytest.param("(Ada) uses Castle", id="a bracket after the subject"),
        pytest.param("Ada uses. Castle", id="two sentences"),
        pytest.param("Ada Castle", id="no words between"),
        pytest.param("Ada — uses Castle", id="a dash before the phrase"),
        pytest.param("uses Castle", id="no subject"),
        pytest.param("Ada uses castle", id="no object"),
        pytest.param("Ada likes Castle", id="another verb"),
    ],
)
def test_what_is_no_relation(text: str) -> None:
    assert relations(text) == []


def test_relations_are_between_neighbours() -> None:
    assert relations("Ada uses Castle uses `rust` depends on LLVM") == [
        ("Ada", "uses", "Castle"),
        ("Castle", "uses", "rust"),
        ("rust", "depends_on", "LLVM"),
    ]


def test_the_case_of_a_phrase_and_what_stands_around_its_words_do_not_count() -> None:
    assert relations("@ada *uSES* Castle") == [("ada", "uses", "Castle")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada works on Castle", {"Ada": "person", "Castle": "project"}),
        ("Ada joined Acme", {"Ada": "person", "Acme": "organization"}),
        ("Acme is based in Paris", {"Paris": "place", "Acme": "other"}),
        ("Castle uses Django", {"Castle": "other", "Django": "other"}),
        ("`cargo` works on Castle", {"cargo": "tool", "Castle": "project"}),
        ("Ada joined @bob", {"Ada": "person", "bob": "person"}),
        ("Ada met Bob. Ada works on Castle.", {"Ada": "person", "Castle": "project", "Bob": "other"}),
        ("Ada works on Castle joined Acme", {"Ada": "person", "Castle": "project", "Acme": "organization"}),
    ],
)
def test_a_relation_gives_kinds_to_names_that_had_none(text: str, expected: dict[str, str]) -> None:
    assert kinds(text) == expected


def test_specific_kinds_come_first_in_the_order_of_the_text() -> None:
    assert list(kinds("Zoe met Yan. `b` and `a`. @carl")) == ["b", "a", "carl", "Zoe", "Yan"]


def test_names_found_in_a_page_of_notes() -> None:
    text = """\
# Release notes

- Maria Silva works on MemCastle since May. She asked @tom about `pyproject.toml`.
- MemCastle depends on SurrealDB, and SurrealDB is using Rust.
> The team's office: Acme Corp is located in Lisbon.
"""
    assert kinds(text) == {
        "Maria Silva": "person",
        "MemCastle": "project",
        "tom": "person",
        "pyproject.toml": "tool",
        "Lisbon": "place",
        "Release": "other",
        "May": "other",
        "SurrealDB": "other",
        "Rust": "other",
        "Acme Corp": "other",
    }
    assert relations(text) == [
        ("Maria Silva", "works_on", "MemCastle"),
        ("MemCastle", "depends_on", "SurrealDB"),
        ("SurrealDB", "uses", "Rust"),
        ("Acme Corp", "located_in", "Lisbon"),
    ]


TEXTS = st.text() | st.lists(
    st.sampled_from(
        ["Ada", "Bob", "the", "The", "uses", "works", "on", "is", "@ada", "`x`", "`", "'s", ",", ".", "\n", "É", "-"]
    ),
    max_size=30,
).map(" ".join)


@given(TEXTS)
def test_it_gives_the_same_for_the_same_text(text: str) -> None:
    assert extract(text) == extract(text)


@given(TEXTS)
def test_every_end_of_a_relation_is_an_entity_with_a_name(text: str) -> None:
    found = extract(text)
    known = {entity.name for entity in found.entities}
    assert all(name and name == name.strip() for name in known)
    assert {end for relation in found.relations for end in (relation.subject, relation.object)} <= known


@given(TEXTS, TEXTS)
def test_what_is_read_of_a_line_does_not_depend_on_other_lines(one: str, other: str) -> None:
    both, first, second = extract(f"{one}\n{other}"), extract(one), extract(other)
    assert both.relations == first.relations + second.relations
    assert sorted(map(str, both.entities)) == sorted(map(str, first.entities + second.entities))
