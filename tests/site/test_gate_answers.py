"""What every answer carries, and what stands in for an answer that the application did not give."""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any

import pytest

from memcastle_site import logs
from memcastle_site.gate import Gate
from palace.errors import WingNotFound
from tests.site.asking import ask

KIB = 1024


def answering(content_type: str = "application/json", **headers: str) -> Any:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        extra = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type.encode()), *extra]}
        )
        await send({"type": "http.response.body", "body": b"{}"})

    return application


async def reading(scope: Any, receive: Any, send: Any) -> None:
    size = 0
    while (message := await receive())["type"] == "http.request":
        size += len(message["body"])
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


async def test_request_id_of_the_client_is_kept_and_known_inside() -> None:
    seen = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(logs.request_id.get())
        await answering(x_request_id="from-inside")(scope, receive, send)

    answer = await ask(Gate(application), "GET", "/", ("x-request-id", "run-7/step.3"))

    assert answer.header("x-request-id") == "run-7/step.3"
    assert seen == ["run-7/step.3"]
    assert logs.request_id.get() is None


@pytest.mark.parametrize("given", ["", "two words", "a" * 129, "tab\there", "ümlaut"])
async def test_request_id_that_is_not_sane_is_replaced(given: str) -> None:
    answer = await ask(Gate(answering()), "GET", "/", ("x-request-id", given))

    assert uuid.UUID(answer.header("x-request-id"))


async def test_refusals_carry_a_request_id_as_well() -> None:
    answer = await ask(Gate(answering()), host="attacker.example")

    assert uuid.UUID(answer.header("x-request-id"))


async def test_request_is_logged_without_its_query(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "memcastle.gate"):
        await ask(Gate(answering()), "GET", "/api/search")

    (record,) = caplog.records
    assert (record.__dict__["method"], record.__dict__["path"], record.__dict__["status"]) == ("GET", "/api/search", 200)
    assert record.__dict__["ms"] >= 0
    assert "secret" not in logs.TextFormatter().format(record)


async def test_refusal_is_logged_with_its_code(caplog: pytest.LogCaptureFixture) -> None:
    await ask(Gate(answering()), host="attacker.example")

    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.__dict__["code"] == "memcastle::server::host_refused"


async def test_every_answer_has_the_security_headers() -> None:
    for answer in (await ask(Gate(answering())), await ask(Gate(answering()), host="attacker.example")):
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("referrer-policy") == "no-referrer"
        assert answer.header("x-frame-options") == "DENY"
        assert answer.header("content-security-policy") is None


async def test_page_may_run_and_load_only_what_the_daemon_serves() -> None:
    policy = (await ask(Gate(answering("text/html; charset=utf-8")), "GET", "/ui/")).header("content-security-policy") or ""

    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


async def test_what_the_application_says_itself_is_kept() -> None:
    own = answering("text/html", content_security_policy="default-src 'self'", x_frame_options="SAMEORIGIN")
    answer = await ask(Gate(own), "GET", "/ui/")

    assert answer.header("content-security-policy") == "default-src 'self'"
    assert answer.header("x-frame-options") == "SAMEORIGIN"


@pytest.mark.parametrize("path", ["/api/wings", "/mcp", "/", "/uix"])
async def test_refusal_is_json(path: str) -> None:
    answer = await ask(Gate(answering()), "GET", path, host="attacker.example")

    assert answer.header("content-type") == "application/json"
    assert answer.error["help"]


@pytest.mark.parametrize("path", ["/ui", "/ui/", "/ui/wings"])
async def test_refusal_of_a_page_is_a_page_that_runs_nothing(path: str) -> None:
    answer = await ask(Gate(answering()), "GET", path, ("origin", "<img src=x onerror=alert(1)>"))

    assert answer.status == 403
    assert answer.header("content-type") == "text/html; charset=utf-8"
    assert b"<img" not in answer.body
    assert b"&lt;img" in answer.body
    assert "default-src 'none'" in (answer.header("content-security-policy") or "")


async def test_fault_of_the_application_becomes_500_and_its_traceback_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("inner detail")

    answer = await ask(Gate(application))

    assert answer.status == 500
    assert answer.error["code"] == "memcastle::server::failed"
    assert b"inner detail" not in answer.body
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "inner detail" in logs.TextFormatter().format(record)


async def test_typed_error_that_escapes_keeps_its_status() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        raise WingNotFound("no wing is called x")

    answer = await ask(Gate(application))

    assert (answer.status, answer.error["code"]) == (404, "memcastle::palace::wing_not_found")


async def test_application_that_does_not_answer_fails() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        return

    assert (await ask(Gate(application))).status == 500


async def test_answer_that_broke_off_is_left_unfinished(caplog: pytest.LogCaptureFixture) -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("late")

    answer = await ask(Gate(application))

    assert (answer.status, answer.body, answer.complete) == (200, b"half", False)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


async def test_cancellation_passes_through() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await ask(Gate(application))
    assert logs.request_id.get() is None


async def test_body_that_announces_too_much_is_refused_unread() -> None:
    answer = await ask(Gate(reading), "POST", "/api/search", ("content-length", str(2 * KIB * KIB + 1)), body=())

    assert answer.status == 400
    assert answer.error["code"] == "memcastle::input::invalid"
    assert answer.error["error"].startswith("body: ")


@pytest.mark.parametrize("length", ["x", "-1", "1" * 30, "1,1"])
async def test_length_that_is_no_sane_number_is_refused(length: str) -> None:
    assert (await ask(Gate(reading), "POST", "/api/search", ("content-length", length))).status == 400


async def test_body_without_length_is_counted() -> None:
    pieces = [b"x" * KIB * KIB] * 2

    assert (await ask(Gate(reading), "POST", "/api/search", body=pieces)).status == 200
    assert (await ask(Gate(reading), "POST", "/api/search", body=[*pieces, b"x"])).status == 400


async def test_other_paths_have_limits_of_their_own() -> None:
    answer = await ask(Gate(reading), "POST", "/mcp", ("content-length", str(3 * KIB * KIB)), body=[b"x" * 3 * KIB * KIB])

    assert answer.status == 200


async def test_lifespan_is_acknowledged() -> None:
    incoming = iter(["lifespan.startup", "lifespan.shutdown"])
    sent = []

    async def receive() -> dict[str, str]:
        return {"type": next(incoming)}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await Gate(answering())({"type": "lifespan"}, receive, send)

    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


async def test_unknown_kind_of_connection_is_refused() -> None:
    with pytest.raises(ValueError, match="carrier-pigeon"):
        await ask_kind("carrier-pigeon")


async def ask_kind(kind: str) -> None:
    async def nothing(*_: Any) -> Any:
        return {}

    await Gate(answering())({"type": kind}, nothing, nothing)
