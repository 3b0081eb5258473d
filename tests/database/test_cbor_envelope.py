"""Requests are taken apart without being decoded; what is malformed, too deep or too large a number is refused."""

from __future__ import annotations

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcastle_site.database.cbor import MAX_DEPTH, Malformed, elements, entries, item_end, text_of

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | inner.map(lambda value: cbor2.CBORTag(8, value)),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), VALUES))
def test_values_of_a_map_are_found_byte_for_byte(message: dict[str, object]) -> None:
    found = dict(entries(cbor2.dumps(message)))
    assert found == {name: cbor2.dumps(value) for name, value in message.items()}


@given(st.lists(VALUES), st.binary(max_size=20))
def test_items_of_a_list_are_found_and_what_follows_is_not_read(items: list[object], rest: bytes) -> None:
    encoded = cbor2.dumps(items)
    assert elements(encoded) == [cbor2.dumps(item) for item in items]
    assert item_end(encoded + rest, 0) == len(encoded)


@given(VALUES)
def test_a_message_that_was_cut_off_is_malformed(value: object) -> None:
    encoded = cbor2.dumps({"value": value})
    for length in range(len(encoded)):
        with pytest.raises(Malformed):
            list(entries(encoded[:length]))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_malformed(data: bytes) -> None:
    try:
        found = dict(entries(data))
    except Malformed:
        return
    for value in found.values():
        assert item_end(value, 0) == len(value)


def test_containers_and_texts_of_unknown_length() -> None:
    message = b"\xbf\x61a\x9f\x01\x82\x02\x03\xff\x7f\x61b\x61c\xff\x5f\x41x\x41y\xff\xff"
    found = dict(entries(message))
    assert found == {"a": b"\x9f\x01\x82\x02\x03\xff", "bc": b"\x5f\x41x\x41y\xff"}
    assert elements(found["a"]) == [b"\x01", b"\x82\x02\x03"]
    assert text_of(b"\x7f\x61b\x61c\xff") == "bc"


def nested(depth: int) -> bytes:
    return b"\xa1\x61a" + b"\x81" * (depth - 1) + b"\x01"


@pytest.mark.parametrize("opening", [b"\x81", b"\x9f", b"\xa1\x01", b"\xc6"])
def test_depth_is_bounded_whatever_it_is_made_of(opening: bytes) -> None:
    assert dict(entries(nested(MAX_DEPTH)))
    with pytest.raises(Malformed, match="deep"):
        list(entries(b"\xa1\x61a" + opening * 500_000))


def test_integers_beyond_the_engine_s_are_refused() -> None:
    list(entries(cbor2.dumps({"a": [2**63 - 1, -(2**63)]})))
    for number in (2**63, 2**64 - 1, -(2**63) - 1):
        with pytest.raises(Malformed, match="64 bits"):
            list(entries(cbor2.dumps({"a": number})))


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x80", b"\xff", b"\xa0\xa0", b"\xa1\x01\x01", b"\x1c", b"\xa1\x61\xff\x01"])
def test_what_is_no_map_of_texts(data: bytes) -> None:
    with pytest.raises(Malformed):
        list(entries(data))
