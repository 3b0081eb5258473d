"""Which words find which texts."""

from __future__ import annotations

import pytest

from palace.store import Store
from tests.search.support import drawer, found, hits, put, put_texts, room

TEXTS = (
    "我们决定使用图数据库",
    "今日はデータベースを選びました",
    "우리는 그래프 데이터베이스를 선택했다",
    "เราเลือกฐานข้อมูลกราฟ",
    "Сергей выбрал базу данных",
    "Η βάση δεδομένων του Νίκου",
    "بحثنا عن قاعدة بيانات",
    "בחרנו מסד נתונים",
    "München and the naïve café",
    "call parseConfigFile before OAuth2_url_v3 is read",
    "GitHub and PyPI are web sites",
    "gitlab lives elsewhere",
    "the quick foxes were jumping",
    "see config.toml in /etc/memcastle",
    "Alice's favourite colour isn't blue",
    "C++ and C# and .NET",
    "error E0308 at line 42, v3.1.4",
    "解析pdf 文件",
    "HTTPServer handles XMLHttpRequest",
    "snake_case_name and kebab-case-name",
    "👩‍👩‍👧 went home 🏠",
)
FINDS = {
    "图数据库": 0,
    "数据": 0,
    "图": 0,
    "データベース": 1,
    "그래프": 2,
    "데이터베이스": 2,
    "ฐานข้อมูล": 3,
    "Сергей": 4,
    "сергей": 4,
    "ΒΆΣΗ": 5,
    "βαση": 5,
    "قاعدة": 6,
    "מסד": 7,
    "münchen": 8,
    "Munchen": 8,
    "naive": 8,
    "CAFE": 8,
    "config parse": 9,
    "parse": 9,
    "parseConfigFile": 9,
    "parseconfigfile": 9,
    "ConfigFile": 9,
    "oauth2": 9,
    "OAuth2_url_v3": 9,
    "github": 10,
    "GitHub": 10,
    "hub": 10,
    "pypi": 10,
    "site": 10,
    "fox": 12,
    "jumps": 12,
    "Jumped foxes": 12,
    "config.toml": 13,
    "toml": 13,
    "/etc/memcastle": 13,
    "alice": 14,
    "Alice's": 14,
    "isn't": 14,
    "E0308": 16,
    "e0308": 16,
    "3.1.4": 16,
    "42": 16,
    "解析pdf": 17,
    "pdf": 17,
    "http server": 18,
    "xmlhttprequest": 18,
    "snake": 19,
    "kebab-case": 19,
    "home": 20,
}


async def test_each_script_and_each_spelling_finds_its_text(palace: Store) -> None:
    await put_texts(palace, *TEXTS)
    wrong = {}
    for query, number in FINDS.items():
        contents = await found(query)
        if TEXTS[number] not in contents:
            wrong[query] = contents
    assert wrong == {}


async def test_a_part_of_an_identifier_finds_it(palace: Store) -> None:
    await put_texts(palace, *TEXTS)
    assert set(await found("config")) == {TEXTS[9], TEXTS[13]}
    assert await found("github") == [TEXTS[10]]


async def test_a_query_without_words_finds_nothing(palace: Store) -> None:
    await put_texts(palace, *TEXTS)
    for query in ("", " ", "\n\t", "...", "!?", "—", "👩‍👩‍👧", "🏠", "'", '"', "*", "%", "\\", "\0", "()"):
        assert await found(query) == [], query


@pytest.mark.parametrize(
    "query", ["fox*", '"quick foxes"', "fox AND quick", "-fox", "fox~", "(fox)", "fox:quick", "f'o\"x fox", "fox;"]
)
async def test_marks_mean_nothing_beside_words(palace: Store, query: str) -> None:
    await put_texts(palace, "the quick foxes", "nothing of the kind")
    assert "the quick foxes" in await found(query)


async def test_every_word_must_match_while_a_text_has_them_all(palace: Store) -> None:
    await put_texts(palace, "apple pear", "apple plum", "pear cherry", "apple and pear and plum")
    assert sorted(await found("apple pear")) == ["apple and pear and plum", "apple pear"]
    assert await found("plum apple pear") == ["apple and pear and plum"]


async def test_any_word_matches_when_no_text_has_them_all(palace: Store) -> None:
    await put_texts(palace, "apple pear", "apple plum", "cherry", "fig", "lemon", "lime", "melon", "quince")
    assert sorted(await found("apple zzz")) == ["apple pear", "apple plum"]
    assert sorted(await found("plum cherry")) == ["apple plum", "cherry"]
    assert (await found("pear apple lemon unheard-of"))[0] == "apple pear"
    assert await found("zzz yyy") == []


async def test_any_word_is_tried_inside_the_scope(palace: Store) -> None:
    """A text elsewhere that has all the words does not keep a text in the scope from matching some."""
    await put(palace, drawer(await room("a"), "apple pear"), drawer(await room("b"), "apple plum"))
    assert await found("apple pear", wing="b") == ["apple plum"]
    assert await found("apple pear") == ["apple pear"]


async def test_one_word_is_never_relaxed(palace: Store) -> None:
    await put_texts(palace, "parse the file", "config of it")
    assert await found("parseConfigFile") == []
    assert await found("图数据库") == []


async def test_a_word_in_most_texts_still_finds_all_of_them(palace: Store) -> None:
    """Such a word scores 0, which must not read as no match."""
    await put_texts(palace, *(f"common number{letter}" for letter in "abcdefgh"), "rare")
    assert len(await found("common")) == 8
    assert len(await found("common", limit=3)) == 3
    assert await found("common numbera") == ["common numbera"]
    assert await found("rare") == ["rare"]


async def test_a_word_that_is_asked_twice_counts_once(palace: Store) -> None:
    await put_texts(palace, "apple pear", "plum")
    assert await found("apple apple APPLE apples") == ["apple pear"]


async def test_the_end_of_a_long_text_is_found(palace: Store) -> None:
    await put_texts(palace, "filler words here " * 5000 + "needle", "the haystack")
    (hit,) = await hits("needle")
    assert hit.drawer.content.endswith("needle")


async def test_a_very_long_query_is_answered(palace: Store) -> None:
    await put_texts(palace, "apple pear")
    assert await found(" ".join(f"word{number}" for number in range(3000)) + " apple") == ["apple pear"]
    assert await found("x" * 100_000) == []


async def test_more_matches_raise_a_text(palace: Store) -> None:
    await put_texts(palace, "apple once among other words of this text", "apple apple apple among words", *("unrelated",) * 6)
    assert [text.count("apple") for text in await found("apple")] == [3, 1]


async def test_signals_name_what_made_the_score(palace: Store) -> None:
    await put_texts(palace, "apple pear", "plum", "cherry", "fig")
    (hit,) = await hits("apple")
    assert hit.score > 0
    assert hit.signals == {"lexical": hit.score}
