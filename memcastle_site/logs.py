"""Logging: one event, one line, on stderr.

Code logs through `logging.getLogger("memcastle.<area>")` and passes values in `extra`, never inside the message. What
memory holds, file names, query strings, headers and tokens are not logged at any level.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memcastle_site.console.output import colour_wanted
from memcastle_site.console.text import harmless_line
from palace.domain.clock import canonical
from palace.errors import ConfigInvalid

if TYPE_CHECKING:
    from memcastle_site.conf import LoggingConfig

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered; every line logged meanwhile carries it."""

OURS = "memcastle"
TRACE = 5
_LEVELS = {
    "off": logging.CRITICAL + 10,
    "error": logging.ERROR,
    "warn": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": TRACE,
}
_TARGET = re.compile(r"\w[\w.-]*", re.ASCII)
_BARE_VALUE = re.compile(r"[^\s\"=\\]+")
_COLOURS = {"error": "31", "warn": "33", "info": "32", "debug": "36", "trace": "2"}
_OWN_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# Django hands the request along, which would be printed with its query string.
_NOT_SHOWN_OF_DJANGO = _OWN_ATTRIBUTES | {"request"}
_VERBOSE = {0: "", 1: f",{OURS}=debug"}


@dataclass(frozen=True, slots=True)
class Levels:
    """The least level that is shown: of everything, and of single loggers with all below them."""

    default: int
    named: Mapping[str, int]


def parse_levels(text: str) -> Levels:
    """Reads a level, or comma-separated directives: a level for everything, `logger=level` for one logger.

    The later of two directives for the same thing holds. Raises ValueError naming what is accepted.
    """
    default = logging.INFO
    named: dict[str, int] = {}
    for part in text.split(","):
        target, separator, word = part.rpartition("=")
        target, level = target.strip(), _LEVELS.get(word.strip().lower())
        if level is None or bool(separator) != bool(_TARGET.fullmatch(target)):
            raise ValueError(f"a level ({', '.join(_LEVELS)}) or directives such as memcastle=debug,warn")
        if separator:
            named[target] = level
        else:
            default = level
    return Levels(default, named)


def configure(config: LoggingConfig, environ: Mapping[str, str], verbosity: int = 0) -> None:
    """Sends every log line of the process to stderr in the configured form; may be called again.

    `MEMCASTLE_LOG` wins over `verbosity` (1: MemCastle at debug, 2: at trace), which adds to `logging.level`.
    Raises ConfigInvalid for directives that cannot be read.
    """
    place, text = "MEMCASTLE_LOG", environ.get("MEMCASTLE_LOG")
    if text is None:
        place, text = "logging.level", config.level + _VERBOSE.get(verbosity, f",{OURS}=trace")
    try:
        levels = parse_levels(text)
    except ValueError as error:
        raise ConfigInvalid(f"{place}: {text!r} is not accepted; it must be {error}") from None
    handler = logging.StreamHandler(sys.stderr)
    colour = colour_wanted(environ, sys.stderr.isatty())
    handler.setFormatter(JsonFormatter() if config.format == "json" else TextFormatter(colour=colour))
    logging.addLevelName(TRACE, "TRACE")
    logging.captureWarnings(True)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    _apply(levels)


_levelled: set[str] = set()


def _apply(levels: Levels) -> None:
    # At info the libraries would tell about every connection and worker: they speak from warn on unless asked for.
    others = logging.WARNING if levels.default == logging.INFO else levels.default
    # Of requests Django tells a second time what was refused, with the path; only faults are news.
    chosen = {OURS: levels.default, "django.request": max(others, logging.ERROR), **levels.named}
    for name in _levelled - set(chosen):
        logging.getLogger(name).setLevel(logging.NOTSET)
    _levelled.clear()
    _levelled.update(chosen)
    logging.getLogger().setLevel(others)
    for name, level in chosen.items():
        logging.getLogger(name).setLevel(level)


def _level_word(record: logging.LogRecord) -> str:
    known = {logging.CRITICAL: "error", logging.WARNING: "warn"}
    return known.get(record.levelno) or record.levelname.lower()


def _values(record: logging.LogRecord) -> dict[str, Any]:
    """What the line carries beside its message: request id, the values of `extra`, exception and stack."""
    values: dict[str, Any] = {}
    if (current := request_id.get()) is not None:
        values["request_id"] = current
    not_shown = _NOT_SHOWN_OF_DJANGO if record.name.startswith("django.") else _OWN_ATTRIBUTES
    values.update((key, value) for key, value in vars(record).items() if key not in not_shown)
    if record.exc_info and record.exc_info[0] is not None:
        values["exception"] = "".join(traceback.format_exception(*record.exc_info)).rstrip()
    elif record.exc_text:
        values["exception"] = record.exc_text
    if record.stack_info:
        values["stack"] = record.stack_info
    return values


def _time(record: logging.LogRecord) -> str:
    return canonical(int(record.created * 1_000_000) * 1000)


class TextFormatter(logging.Formatter):
    """`TIME LEVEL LOGGER MESSAGE key=value …`, with every control character spelled out."""

    def __init__(self, *, colour: bool = False) -> None:
        super().__init__()
        self.colour = colour

    def format(self, record: logging.LogRecord) -> str:
        word = _level_word(record)
        level = f"{word:<5}"
        if self.colour and word in _COLOURS:
            level = f"\x1b[{_COLOURS[word]}m{level}\x1b[0m"
        pairs = [f"{harmless_line(str(key))}={_shown(value)}" for key, value in _values(record).items()]
        return " ".join([_time(record), level, record.name, harmless_line(record.getMessage()), *pairs])


class JsonFormatter(logging.Formatter):
    """One JSON object: `time`, `level`, `logger`, `message`, then the values; a value of such a name gets a `_` behind it."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": _level_word(record),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for key, value in _values(record).items():
            line[f"{key}_" if key in line else key] = _json_value(value)
        return json.dumps(line)


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = str(value)
    if _BARE_VALUE.fullmatch(text) and harmless_line(text) == text:
        return text
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{harmless_line(quoted)}"'


def _json_value(value: object) -> object:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    return str(value)
