"""What commands and chat endpoints are asked, and how their answers are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mining.domain.extraction.protocols import (
    Answer,
    PreferenceContext,
    command_answers,
    command_request,
    completion_answer,
    completion_request,
    reply_answer,
)
from mining.domain.extraction.results import ExtractedEntity, ExtractedRelation, Extraction
from mining.domain.extraction.vocabulary import Predicate
from palace.domain.entities import EntityKind

KINDS = ["person", "organization", "project", "tool", "place", "concept", "other"]
PREDICATES = ["works_on", "member_of", "depends_on", "uses", "owns", "part_of", "located_in", "related_to"]
SAID = {
    "entities": [{"name": "Ada", "kind": "Person"}, {"name": "Castle"}],
    "relations": [
        {"subject": "Ada", "predicate": "works on", "object": "Castle", "confidence": 0.9},
        {"subject": "Castle", "object": "Ada"},
    ],
}
READ = Extraction(
    (ExtractedEntity("Ada", EntityKind.PERSON), ExtractedEntity("Castle", EntityKind.OTHER)),
    (
        ExtractedRelation("Ada", Predicate.WORKS_ON, "Castle", 0.9),
        ExtractedRelation("Castle", Predicate.RELATED_TO, "Ada", 0.5),
    ),
)


def completion(reply: Any) -> str:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": reply}}]})


def test_a_command_is_asked_for_all_texts_at_once() -> None:
    assert command_request("small", ["one", "two"]) == {
        "model": "small",
        "vocabulary": {"kinds": KINDS, "predicates": PREDICATES},
        "texts": ["one", "two"],
    }


def test_a_command_is_told_preferences_when_there_is_a_policy() -> None:
    request = command_request(None, ["one", "two"], [PreferenceContext("high", "git", "path = docs"), None])
    assert request["preferences"] == [{"level": "high", "source": "git", "criterion": "path = docs"}, None]


def test_an_endpoint_is_asked_for_one_text() -> None:
    request = completion_request("small", "one")
    assert {name: value for name, value in request.items() if name != "messages"} == {
        "model": "small",
        "temperature": 0,
        "response_format": {"type": "json_object"},
    }
    system, user = request["messages"]
    assert (system["role"], user) == ("system", {"role": "user", "content": "one"})
    assert all(word in system["content"] for word in [*KINDS, *PREDICATES, "entities", "relations", "confidence"])


def test_a_preference_is_a_second_system_message_that_calls_it_no_evidence() -> None:
    messages = completion_request("small", "one", PreferenceContext("high", "git", "path = docs"))["messages"]
    assert [message["role"] for message in messages] == ["system", "system", "user"]
    assert all(word in messages[1]["content"] for word in ["high", "git", "path = docs", "no evidence"])


def test_eight_thousand_characters_of_a_text_are_sent() -> None:
    text = "é" * 8_001
    assert command_request(None, [text])["texts"] == ["é" * 8_000]
    assert completion_request(None, text)["messages"][-1]["content"] == "é" * 8_000


def test_the_answers_of_a_command_are_read_in_order() -> None:
    output = json.dumps({"extractions": [SAID, {}, {"entities": None}]}).encode()
    assert command_answers(output, 3) == [Answer(READ), Answer(Extraction()), Answer(Extraction())]


@pytest.mark.parametrize(
    "output",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        '{"extractions": {}}',
        '{"extractions": []}',
        '{"extractions": [{}, {}]}',
        b"\xff\xfe\xff",
        "[" * 200_000,
        '{"extractions": [{}]} trailing',
        "1" * 5_000,
    ],
)
def test_an_output_that_is_not_what_was_asked_for_fails_the_batch(output: str | bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        command_answers(output, 1)


def test_the_reply_of_a_chat_completion_is_read() -> None:
    assert completion_answer(completion(json.dumps(SAID)).encode()) == Answer(READ)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        "[]",
        "{}",
        '{"choices": []}',
        '{"choices": {}}',
        '{"choices": "text"}',
        '{"choices": [{"text": "{}"}]}',
        '{"choices": [null]}',
        completion(None),
        completion([{"type": "text"}]),
        "[" * 200_000,
    ],
)
def test_a_body_that_is_no_chat_completion_fails(body: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        completion_answer(body)


@pytest.mark.parametrize("around", ["{}", "Here it is:\n```json\n{}\n```\nAnything else?", "  {}  "])
def test_what_stands_around_the_object_of_a_reply_does_not_count(around: str) -> None:
    assert reply_answer(around.replace("{}", json.dumps(SAID))) == Answer(READ)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I found nothing.",
        "} {",
        "{",
        "{'entities': []}",
        "{} and {}",
        '{"a":' * 100_000 + "}",
        '{"n": ' + "1" * 5_000 + "}",
    ],
)
def test_a_reply_without_the_json_asked_for_is_empty_and_says_so(reply: str) -> None:
    found = completion_answer(completion(reply))
    assert found.extraction == Extraction()
    assert found.problem


@pytest.mark.parametrize("reply", ["{}", '{"entities": null}', '{"entities": [], "relations": []}', '{"other": 1}'])
def test_missing_lists_are_empty_and_no_problem(reply: str) -> None:
    assert reply_answer(reply) == Answer(Extraction())


def test_entries_that_cannot_be_read_are_left_out_and_counted() -> None:
    said = {
        "entities": [*SAID["entities"], "Ada", {"kind": "tool"}, {"name": 5}, None],
        "relations": [*SAID["relations"], {"subject": "Ada"}, {"subject": "Ada", "object": "Castle", "confidence": "high"}],
    }
    assert reply_answer(json.dumps(said)) == Answer(READ, "6 entries of the answer could not be read")
    assert reply_answer('{"entities": "Ada", "relations": 7}') == Answer(
        Extraction(), "2 entries of the answer could not be read"
    )


@pytest.mark.parametrize(("label", "kind"), [(None, "other"), (7, "other"), ("TOOL", "tool"), ("gadget", "other")])
def test_kinds_that_are_unknown_are_other(label: Any, kind: str) -> None:
    [entity] = reply_answer(json.dumps({"entities": [{"name": "Ada", "kind": label}]})).extraction.entities
    assert entity.kind == kind


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("null", 0.5),
        ("1", 1.0),
        ("0.25", 0.25),
        ("1e999", float("inf")),
        ("9" * 400, float("inf")),
        ("-" + "9" * 400, float("-inf")),
    ],
)
def test_confidences(given: str, read: float) -> None:
    said = f'{{"relations": [{{"subject": "a", "object": "b", "confidence": {given}}}]}}'
    assert [relation.confidence for relation in reply_answer(said).extraction.relations] == [read]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["entities", "relations", "name", "kind", "subject", "predicate", "object", "confidence", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_reply_breaks_the_reader(value: Any) -> None:
    assert isinstance(reply_answer(json.dumps(value)), Answer)
    assert isinstance(command_answers(json.dumps({"extractions": [value]}), 1)[0], Answer)
    assert isinstance(completion_answer(completion(json.dumps(value))), Answer)


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    assert isinstance(reply_answer(text), Answer)
