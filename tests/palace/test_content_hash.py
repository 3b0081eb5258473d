"""The fingerprint of a text."""

from __future__ import annotations

import hashlib

from palace.domain.texts import content_hash


def test_an_ordinary_text_has_the_plain_hash_of_its_utf8() -> None:
    assert content_hash("图数据库\n") == hashlib.sha256("图数据库\n".encode()).hexdigest()


def test_a_leading_byte_order_mark_and_crlf_do_not_count() -> None:
    assert content_hash("\ufeffa\r\nb\r\n") == content_hash("a\nb\n")


def test_any_other_difference_counts() -> None:
    variants = ["a\nb", "a\rb", "a\n\nb", "a\nb\n", " a\nb", "\ufeff\ufeffa\nb", "a\ufeff\nb"]
    assert len({content_hash(text) for text in variants}) == len(variants)
