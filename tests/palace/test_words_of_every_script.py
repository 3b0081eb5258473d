"""No script may be unsearchable: what a person writes in it finds what is stored in it."""

from __future__ import annotations

import unicodedata

import pytest

from palace.domain.words import indexed_words, relaxed_terms, strict_terms, word_count


def finds(query: str, text: str) -> bool:
    terms = strict_terms(query)
    return bool(terms) and set(terms) <= set(indexed_words(text).split())


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("图数据库", "我们决定使用图数据库", id="Chinese"),
        pytest.param("我", "我们决定使用图数据库", id="one Chinese character"),
        pytest.param("解析pdf", "这个函数解析pdf文件", id="Chinese beside Latin"),
        pytest.param("解析pdf", "用 PDF 库来解析", id="Chinese beside Latin, apart in the text"),
        pytest.param("第3章", "第3章：索引", id="Chinese around a digit"),
        pytest.param("データベース", "新しいデータベースを使う", id="Japanese katakana"),
        pytest.param("食べる", "私は寿司を食べる", id="Japanese kanji and hiragana"),
        pytest.param("ﾃﾞｰﾀ", "データを保存する", id="half-width katakana"),
        pytest.param("が", unicodedata.normalize("NFD", "音楽が好き"), id="Japanese, decomposed"),
        pytest.param("데이터베이스", "데이터베이스를 사용한다", id="Korean before a particle"),
        pytest.param("데이터베이스", unicodedata.normalize("NFD", "데이터베이스"), id="Korean, decomposed"),
        pytest.param("ฐานข้อมูล", "เราเลือกฐานข้อมูลกราฟ", id="Thai"),
        pytest.param("น้ำ", "ฉันดื่มน้ำเย็น", id="Thai sara am"),
        pytest.param("ຖານຂໍ້ມູນ", "ພວກເຮົາໃຊ້ຖານຂໍ້ມູນ", id="Lao"),
        pytest.param("ទិន្នន័យ", "មូលដ្ឋានទិន្នន័យ", id="Khmer"),
        pytest.param("ဒေတာ", "ဒေတာဘေ့စ်ကိုသုံးသည်", id="Burmese"),
        pytest.param("Сергей", "Привет, СЕРГЕЙ!", id="Cyrillic"),
        pytest.param("еще", "ещё раз", id="Cyrillic without dots"),
        pytest.param("ΑΘΗΝΑΣ", "στους δρόμους της Αθήνας", id="Greek capitals, final sigma, accent"),
        pytest.param("שלום", "שָׁלוֹם עולם", id="Hebrew without points"),
        pytest.param("שָׁלוֹם", "שלום עולם", id="Hebrew with points"),
        pytest.param("احمد", "كتب أَحْمَد الرسالة", id="Arabic without diacritics"),
        pytest.param("أَحْمَد", "احمد هنا", id="Arabic with diacritics"),
        pytest.param("محمد", "محـــمد", id="Arabic, stretched"),
        pytest.param("کتاب", "کتاب\u200cها", id="Persian before a zero-width non-joiner"),
        pytest.param("हिन्दी", "मैं हिन्दी लिखता हूँ", id="Devanagari"),
        pytest.param("தமிழ்", "நான் தமிழ் பேசுகிறேன்", id="Tamil"),
        pytest.param("ბაზა", "მონაცემთა ბაზა", id="Georgian"),
        pytest.param("ሰላም", "ሰላም ዓለም", id="Amharic"),
        pytest.param("munchen", "Grüße aus München", id="umlaut left out"),
        pytest.param("MÜNCHEN", "munchen", id="umlaut too many"),
        pytest.param("München", unicodedata.normalize("NFD", "München"), id="decomposed in the text"),
        pytest.param(unicodedata.normalize("NFD", "München"), "München", id="decomposed in the query"),
        pytest.param("naive", "a naïve plan", id="diaeresis left out"),
        pytest.param("naïve", "a naive plan", id="diaeresis too many"),
        pytest.param("Lodz", "Łódź", id="Polish stroke"),
        pytest.param("oeuvre", "une œuvre", id="ligature"),
        pytest.param("STRASSE", "die Straße", id="sharp s"),
        pytest.param("istanbul", "İstanbul", id="dotted capital I"),
        pytest.param("hello", "Ｈｅｌｌｏ ｗｏｒｌｄ", id="full-width letters"),
        pytest.param("Việt", "tieng Viet", id="Vietnamese without accents in the text"),
        pytest.param("𐓏𐓘", "𐓏𐓘𐓻𐓘 𐓏𐓘", id="a script beyond the basic plane"),
    ],
)
def test_a_query_finds_the_text(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        pytest.param("数图", "我们决定使用图数据库", id="Chinese characters in another order"),
        pytest.param("解析pdf", "解析文件", id="the Latin half is missing"),
        pytest.param("काम", "कम", id="Devanagari vowel signs are letters, not accents"),
        pytest.param("かき", "かぎ", id="Japanese voicing is no accent"),
        pytest.param("Москва", "Москит", id="another word"),
    ],
)
def test_a_query_does_not_find_another_text(query: str, text: str) -> None:
    assert not finds(query, text)


@pytest.mark.parametrize(
    "text", ["", "   ", "❤️ 👨‍👩‍👧 👍🏽 🇩🇪", "™ ©®→ ∑ € +-*/", "_ __ ___", "\u0301 \ufe0f", "\ufeff", "\ud800"]
)
def test_symbols_and_emoji_give_no_tokens(text: str) -> None:
    assert indexed_words(text) == ""
    assert strict_terms(text) == relaxed_terms(text) == ()
    assert word_count(text) == 0


def test_characters_and_pairs_of_a_script_without_spaces() -> None:
    assert indexed_words("图数据") == "图 数 据 图数 数据"
    assert indexed_words("图") == "图"
    assert strict_terms("图数据") == ("图数", "数据")


def test_thai_marks_stay_with_their_letter() -> None:
    assert indexed_words("กู้ที่") == "กู้ ที่ กู้ที่"


def test_korean_keeps_the_whole_word_too() -> None:
    assert indexed_words("국어를") == "국 어 를 국어 어를 국어를"


def test_a_long_clause_without_spaces_is_not_cut() -> None:
    assert finds("图数据库", "甲" * 5000 + "图数据库")


@pytest.mark.parametrize("text", ["so\u00adft", "so\u200dft", "so\u2060ft", "so\ufeffft", "soft\ufe0f"])
def test_invisible_characters_do_not_part_a_word(text: str) -> None:
    assert finds("soft", text)


def test_a_trade_mark_does_not_stick_to_its_word() -> None:
    assert finds("JAVA", "JAVA™")
    assert finds("JAVA™", "java")


def test_the_keycap_emoji_is_its_digit() -> None:
    assert indexed_words("1️⃣") == "1"
