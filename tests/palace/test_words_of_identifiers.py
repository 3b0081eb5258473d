"""An identifier is found by its parts, in whatever spelling."""

from __future__ import annotations

import pytest

from palace.domain.words import indexed_words, relaxed_terms, strict_alternatives, strict_terms, word_count


def tokens(text: str) -> list[str]:
    return indexed_words(text).split()


def finds(query: str, text: str) -> bool:
    return any(set(terms) <= set(tokens(text)) for terms in strict_alternatives(query))


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("parseConfigFile", {"parseconfigfile", "parse", "config", "file"}),
        ("ParseConfig", {"parseconfig", "parse", "config"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("getHTTPResponseCode", {"get", "http", "response", "code"}),
        ("parse_config", {"parse_config", "parse", "config"}),
        ("MAX_RETRY_COUNT", {"max_retry_count", "max", "retry", "count"}),
        ("__init__", {"__init__", "init"}),
        ("sha256", {"sha256", "sha", "256"}),
        ("OAuth2", {"oauth2", "oauth", "auth", "2"}),
        ("allURLs", {"allurls", "all", "urls", "url"}),
        ("userIDs", {"userids", "user", "ids", "id"}),
        ("größeÄndern", {"grösseändern", "grösse", "grosse", "ändern", "andern"}),
        ("получитьДанные", {"получитьданные", "получить", "данные"}),
    ],
)
def test_the_parts_of_an_identifier_are_tokens(identifier: str, parts: set[str]) -> None:
    assert parts <= set(tokens(identifier))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("config", "def parseConfigFile(path):"),
        ("parse_config", "parseConfig(path)"),
        ("parseConfig", "parse_config(path)"),
        ("parse_config", "parseConfigFile(path)"),
        ("ParseConfig", "PARSE_CONFIG = 1"),
        ("parse config", "parseConfig(path)"),
        ("parseConfig", "we parse the config"),
        ("parseconfigfile", "parseConfigFile(path)"),
        ("url", "collectURLs()"),
        ("utf8", "encoding utf-8"),
        ("utf-8", "encoding='utf8'"),
        ("oauth", "OAuth2 flow"),
        ("GitHub", "pushed to github"),
        ("github", "pushed to GitHub"),
        ("JavaScript", "plain javascript"),
        ("SurrealDB parse_config", "surrealdb: parseConfig"),
        ("django.db.models", "from django.db import models"),
        ("my-app", "my_app"),
    ],
)
def test_one_spelling_finds_another(query: str, text: str) -> None:
    assert finds(query, text)


def test_all_parts_are_asked_for() -> None:
    assert strict_terms("parse_config") == strict_terms("parseConfig") == ("pars", "config")
    assert not finds("parse_config", "parse the file")


def test_a_word_parted_by_case_may_also_be_written_small() -> None:
    assert strict_alternatives("use GitHub") == (("use", "git", "hub"), ("use", "github"))
    assert strict_alternatives("parse_config utf8") == (("pars", "config", "utf", "8"),)
    assert strict_alternatives("!") == ()


@pytest.mark.parametrize("written", ["9f86d081884c7d659a2feaa0c55ad015", "9F86D081884C7D659A2FEAA0C55AD015"])
def test_a_hash_stays_whole(written: str) -> None:
    assert tokens(written) == ["9f86d081884c7d659a2feaa0c55ad015"]
    assert strict_terms(written) == ("9f86d081884c7d659a2feaa0c55ad015",)


def test_a_word_of_more_than_64_characters_counts_as_its_first_64() -> None:
    longest = "a" * 64
    assert tokens("a" * 100_000) == tokens(longest)
    assert strict_terms("a" * 65) == strict_terms(longest)


def test_an_identifier_is_one_word_of_a_query() -> None:
    assert word_count("parseConfigFile") == word_count("parse_config_file") == word_count("my-app") == 1


def test_relaxed_terms_are_all_tokens_of_the_query_once() -> None:
    assert relaxed_terms("parseConfig parse") == ("parseconfig", "parse", "pars", "config")
