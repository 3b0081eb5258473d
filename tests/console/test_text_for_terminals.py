"""Stored text must not be able to command the terminal that shows it."""

from __future__ import annotations

import json

import pytest

from memcastle_site.console.output import json_text
from memcastle_site.console.text import counted, duration, harmless, harmless_line, moment, preview, shortened


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b2J", "\\x9b2J"),
        ("bell\x07 null\x00 del\x7f", "bell\\x07 null\\x00 del\\x7f"),
        ("lone\rreturn", "lone\\rreturn"),
        ("a\r\nb\tc\n", "a\nb\tc\n"),
        ("evil\u202etxt.exe\u2066", "evil\\u202etxt.exe\\u2066"),
        ("half \ud800 pair", "half \\ud800 pair"),
        ("שלום Grüße 图数据库 🏰", "שלום Grüße 图数据库 🏰"),
    ],
)
def test_control_characters_are_spelled_out(raw: str, shown: str) -> None:
    assert harmless(raw) == shown


def test_a_name_stays_on_its_line() -> None:
    assert harmless_line("two\nlines\tand\r\u2028more") == "two\\nlines\\tand\\r\\u2028more"


def test_json_escapes_what_a_terminal_could_obey_and_keeps_its_value() -> None:
    value = {"text": "\x1b]0;x\x07 \x7f \x9b \u202e \ud800 Grüße"}
    text = json_text(value)
    assert not any(character in text for character in "\x1b\x07\x7f\x9b\u202e\ud800")
    assert "Grüße" in text
    assert json.loads(text) == value


def test_json_in_ascii_escapes_everything_else() -> None:
    assert json_text("Grüße", ascii_only=True) == '"Gr\\u00fc\\u00dfe"'


def test_a_shortened_text_ends_in_an_ellipsis() -> None:
    assert shortened("one two three", 13) == "one two three"
    assert shortened("one two three", 9) == "one two…"
    assert shortened("one\n  two", 20) == "one two"


def test_a_preview_tells_that_it_is_not_the_whole_text() -> None:
    assert preview({"preview": "short", "chars": 5}, 50) == "short"
    assert preview({"preview": "the beginning", "chars": 900}, 50) == "the beginning…"
    assert preview({"preview": "the beginning…", "chars": 900}, 50) == "the beginning…"


def test_times_and_counts_for_people() -> None:
    assert moment("2026-03-01T12:34:56.123456789Z") == "2026-03-01 12:34:56 UTC"
    assert moment(None) == "–"
    assert [duration(seconds) for seconds in (5, 65, 3600, 90_061)] == ["5s", "1m 5s", "1h 0m 0s", "1d 1h 1m 1s"]
    assert [counted(amount, "room") for amount in (0, 1, 1234)] == ["0 rooms", "1 room", "1,234 rooms"]
