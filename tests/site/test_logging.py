"""What is logged at which level, and that an event is always one line."""

from __future__ import annotations

import io
import json
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils.log import log_response

from memcastle_site.conf import LoggingConfig
from memcastle_site.logs import TRACE, configure, parse_levels, request_id
from palace.errors import ConfigInvalid


@pytest.fixture(autouse=True)
def untouched_logging() -> Iterator[None]:
    """The logging of the test run, put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    configure(LoggingConfig(), {})
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.getLogger("memcastle").setLevel(logging.NOTSET)
    logging.captureWarnings(False)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(name: str) -> int:
    """The least level that a logger shows."""
    return logging.getLogger(name).getEffectiveLevel()


def test_info_lets_the_libraries_speak_from_warn_on(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LoggingConfig(), {})

    assert (shown("memcastle.front"), shown("twisted")) == (logging.INFO, logging.WARNING)


def test_any_other_level_is_for_everything(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LoggingConfig(level="debug"), {})
    assert (shown("memcastle.front"), shown("twisted")) == (logging.DEBUG, logging.DEBUG)

    configure(LoggingConfig(level="error"), {})
    assert (shown("memcastle.front"), shown("twisted")) == (logging.ERROR, logging.ERROR)

    configure(LoggingConfig(level="off"), {})
    assert not logging.getLogger("memcastle.front").isEnabledFor(logging.CRITICAL)


def test_directives_name_loggers(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LoggingConfig(level="memcastle.jobs=trace, WARN ,huey=info,memcastle=debug"), {})

    assert shown("memcastle.jobs.claim") == TRACE
    assert shown("memcastle.front") == logging.DEBUG
    assert shown("huey.consumer") == logging.INFO
    assert shown("twisted") == logging.WARNING


def test_a_second_configuration_leaves_nothing_of_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LoggingConfig(level="huey=debug,info"), {})
    configure(LoggingConfig(), {})
    logging.getLogger("memcastle").info("once")

    assert shown("huey") == logging.WARNING
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(("verbosity", "level"), [(0, logging.INFO), (1, logging.DEBUG), (2, TRACE), (5, TRACE)])
def test_verbosity_adds_to_the_configured_level(capsys: pytest.CaptureFixture[str], verbosity: int, level: int) -> None:
    configure(LoggingConfig(level="info,memcastle=info,huey=error"), {}, verbosity)

    assert (shown("memcastle.front"), shown("huey")) == (level, logging.ERROR)


def test_environment_wins_over_verbosity(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LoggingConfig(level="info"), {"MEMCASTLE_LOG": "error"}, 2)

    assert shown("memcastle.front") == logging.ERROR


@pytest.mark.parametrize(
    "text", ["", "loud", "memcastle=", "=debug", "a=b=debug", "info,", "memcastle=debug;warn", "me mo=info"]
)
def test_directives_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="directives"):
        parse_levels(text)
    with pytest.raises(ConfigInvalid, match="MEMCASTLE_LOG"):
        configure(LoggingConfig(), {"MEMCASTLE_LOG": text})


def emitted(capsys: pytest.CaptureFixture[str], form: str, message: str, **extra: Any) -> str:
    configure(LoggingConfig(format=form), {})
    logging.getLogger("memcastle.jobs").warning(message, extra=extra)
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_text_line(capsys: pytest.CaptureFixture[str]) -> None:
    line = emitted(capsys, "text", "job failed", job_id="a-1", reason='no "room" left', ok=False, wing=None, empty="")
    moment, _, rest = line.partition(" ")

    assert moment.endswith("Z")
    assert len(moment) == len("2026-03-01T12:00:00.000000000Z")
    expected = r'warn  memcastle.jobs job failed job_id=a-1 reason="no \"room\" left" ok=false wing=null empty=""'
    assert rest == expected


def test_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    extra = {
        "job_id": "a-1",
        "attempt": 2,
        "share": 0.5,
        "nan": float("nan"),
        "tags": ("x", "y"),
        "level": "mine",
        "odd": object,
    }
    line = json.loads(emitted(capsys, "json", "job failed", **extra))

    assert (line["level"], line["logger"], line["message"]) == ("warn", "memcastle.jobs", "job failed")
    assert (line["job_id"], line["attempt"], line["share"], line["nan"], line["tags"]) == ("a-1", 2, 0.5, "nan", ["x", "y"])
    assert line["level_"] == "mine"
    assert "request_id" not in line


@pytest.mark.parametrize("form", ["text", "json"])
def test_request_id_is_on_every_line_of_its_request(capsys: pytest.CaptureFixture[str], form: str) -> None:
    token = request_id.set("r-1")
    try:
        line = emitted(capsys, form, "job queued")
    finally:
        request_id.reset(token)

    assert ("request_id=r-1" in line) if form == "text" else (json.loads(line)["request_id"] == "r-1")


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_query_string_of_a_request_is_never_logged(capsys: pytest.CaptureFixture[str], form: str) -> None:
    request = RequestFactory().get("/api/search", {"q": "my-secret-plan"})
    configure(LoggingConfig(format=form), {})
    log_response("Bad Request: %s", request.path, response=HttpResponse(status=400), request=request)
    assert capsys.readouterr().err == ""

    configure(LoggingConfig(format=form, level="django.request=warn"), {})
    log_response("Bad Request: %s", request.path, response=HttpResponse(status=400), request=request)
    line = capsys.readouterr().err
    assert "Bad Request: /api/search" in line
    assert "my-secret-plan" not in line


HOSTILE = "one\ntwo\r\x1b[31mred\x9b\u2028three\u202egnp\ud800\0"


@pytest.mark.parametrize("form", ["text", "json"])
def test_hostile_values_stay_on_one_line_and_command_no_terminal(capsys: pytest.CaptureFixture[str], form: str) -> None:
    line = emitted(capsys, form, HOSTILE, value=HOSTILE, **{"key\n": 1})

    assert not any(character in line for character in "\r\x1b\x9b\u2028\u202e\ud800\0")
    line.encode()


@pytest.mark.parametrize("form", ["text", "json"])
def test_traceback_is_part_of_its_line(capsys: pytest.CaptureFixture[str], form: str) -> None:
    configure(LoggingConfig(format=form), {})
    try:
        raise KeyError("lost")
    except KeyError:
        logging.getLogger("memcastle").exception("failed", stack_info=True)
    (line,) = capsys.readouterr().err.splitlines()

    assert "KeyError: 'lost'" in line


@pytest.mark.parametrize("form", ["text", "json"])
def test_warnings_of_the_interpreter_are_lines_too(capsys: pytest.CaptureFixture[str], form: str) -> None:
    configure(LoggingConfig(format=form), {})
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)
        logging.captureWarnings(True)
        warnings.warn("old\nthing", stacklevel=1)
        logging.captureWarnings(False)

    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("stream", "environ", "coloured"),
    [
        (Terminal, {}, True),
        (Terminal, {"NO_COLOR": ""}, False),
        (Terminal, {"TERM": "dumb"}, False),
        (Terminal, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (Terminal, {"FORCE_COLOR": "0"}, False),
        (io.StringIO, {}, False),
        (io.StringIO, {"FORCE_COLOR": "1"}, True),
        (io.StringIO, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], environ: dict[str, str], coloured: bool) -> None:
    monkeypatch.setattr(sys, "stderr", stream())
    configure(LoggingConfig(), environ)
    logging.getLogger("memcastle").warning("x")

    written: Any = sys.stderr
    assert ("\x1b[" in written.getvalue()) is coloured


def test_json_is_never_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    configure(LoggingConfig(format="json"), {"FORCE_COLOR": "1"})
    logging.getLogger("memcastle").warning("x")

    assert json.loads(stream.getvalue())["message"] == "x"
