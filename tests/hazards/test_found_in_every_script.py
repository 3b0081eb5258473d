"""What was stored is found, whatever its script and wherever in a long text it stands."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support import Daemon

TEXTS = {
    "chinese": "我们决定使用图数据库",
    "mixed": "解析pdf文件的工具",
    "japanese": "データベースの移行を決めた",
    "korean": "데이터베이스를 옮기기로 했다",
    "thai": "เราเลือกฐานข้อมูลกราฟ",
    "cyrillic": "Сергей написал миграцию",
    "greek": "Η βάση δεδομένων",
    "hebrew": "מסד הנתונים נבחר",
    "arabic": "قاعدة البيانات الجديدة",
    "latin": "Wir fahren nach München, ein naïve Idee",
    "code": "def parseConfigFile(path): return toml_reader.load(path)",
}
QUESTIONS = [
    ("图数据库", "chinese"),
    ("解析pdf", "mixed"),
    ("pdf", "mixed"),
    ("データベース", "japanese"),
    ("데이터베이스", "korean"),
    ("ฐานข้อมูล", "thai"),
    ("Сергей", "cyrillic"),
    ("βάση", "greek"),
    ("הנתונים", "hebrew"),
    ("البيانات", "arabic"),
    ("München", "latin"),
    ("naïve", "latin"),
    ("config", "code"),
    ("toml reader", "code"),
    ("Сергей zzzz", "cyrillic"),
]


@pytest.fixture(scope="module")
def scripts(shared_daemon: Daemon) -> Daemon:
    """The shared daemon with one drawer of each text."""
    for name, text in TEXTS.items():
        shared_daemon.post("/api/wings/scripts/rooms/texts/drawers", {"content": text, "name": name})
    return shared_daemon


def names(daemon: Daemon, words: str, wing: str) -> list[str]:
    return [hit["name"] for hit in daemon.get(f"/api/search?q={quote(words)}&wing={wing}")]


@pytest.mark.parametrize(("words", "name"), QUESTIONS)
def test_a_word_of_any_script_is_found(scripts: Daemon, words: str, name: str) -> None:
    assert names(scripts, words, "scripts") == [name]


@pytest.mark.parametrize("words", ["!!!", "，。", "   ", "—", "🙂"])
def test_a_query_without_words_finds_nothing_rather_than_the_newest(scripts: Daemon, words: str) -> None:
    assert names(scripts, words, "scripts") == []


def test_the_end_of_a_long_text_is_found(shared_daemon: Daemon, tmp_path: Path) -> None:
    filler = "the quick brown fox jumps over the lazy dog " * 460
    assert len(filler) > 20_000
    body = {"content": filler + "needleatend", "name": "long"}
    shared_daemon.post("/api/wings/long/rooms/texts/drawers", body)
    assert names(shared_daemon, "needleatend", "long") == ["long"]
    (tmp_path / "long.txt").write_text(filler + "needleinfile")
    assert shared_daemon.mine(tmp_path, wing="long")["status"] == "completed"
    (hit,) = shared_daemon.get("/api/search?q=needleinfile&wing=long")
    assert hit["content"].endswith("needleinfile")


def test_a_word_in_half_of_the_texts_still_ranks_them(shared_daemon: Daemon) -> None:
    for number, text in enumerate(("apple pie", "apple apple tart", "plum pie", "pear cake")):
        shared_daemon.post("/api/wings/half/rooms/texts/drawers", {"content": text, "name": f"{number}"})
    hits = shared_daemon.get("/api/search?q=apple&wing=half")
    assert {hit["name"] for hit in hits} == {"0", "1"}
    assert hits == shared_daemon.get("/api/search?q=apple&wing=half")
    assert sorted(names(shared_daemon, "apple zzz", "half")) == ["0", "1"]


@pytest.mark.parametrize("moment", ["yesterday", "March 2026", "2026-13-01", "1772400000", ""])
def test_a_time_that_cannot_be_read_is_refused_with_the_accepted_forms(shared_daemon: Daemon, moment: str) -> None:
    answer = shared_daemon.request("GET", f"/api/search?q=apple&as_of={quote(moment)}")
    assert (answer.status, answer.json["code"]) == (400, "memcastle::input::invalid")
    assert "2026-03-01" in answer.json["error"] + answer.json["help"]
