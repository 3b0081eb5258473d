"""Where a command writes: text on a terminal, JSON in a pipe, diagnostics on stderr.

Commands give `Screen.show` the value and a function that renders it; the screen decides which of the two is printed. rich
is imported only when something is rendered for a terminal.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from memcastle_site.console.text import harmless
from palace.errors import MemCastleError, SerializationFailed

if TYPE_CHECKING:
    from rich.console import Console

# JSON escapes what lies below the space by itself. DEL, the C1 controls, the bidirectional controls and surrogates it
# would pass through, and a terminal could obey them.
_ESCAPED_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_STYLES = {"red": "1;31", "dim": "2"}

STATUS_STYLES = {
    "queued": "yellow",
    "running": "cyan",
    "paused": "magenta",
    "completed": "green",
    "failed": "red",
    "cancelled": "dim",
    "ok": "green",
    "warning": "yellow",
    "error": "red",
    "skipped": "dim",
}


def colour_wanted(environ: Mapping[str, str], terminal: bool) -> bool:
    """Whether a stream gets colour. `NO_COLOR` wins over `FORCE_COLOR`, which wins over `TERM=dumb`."""
    if "NO_COLOR" in environ:
        return False
    forced = environ.get("FORCE_COLOR", "")
    if forced:
        return forced != "0"
    return terminal and environ.get("TERM") != "dumb"


def json_text(value: object, *, ascii_only: bool = False, indent: int | None = 2) -> str:
    """JSON that holds no character a terminal could obey; without `indent` it is one line.

    Raises SerializationFailed for a value that is not JSON.
    """
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SerializationFailed(f"the answer cannot be written as JSON: {error}") from error
    return _ESCAPED_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


@dataclass(frozen=True, slots=True)
class Streams:
    """The three standard streams of a command."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO

    @classmethod
    def of_process(cls) -> Streams:
        # The interpreter has None for a stream that was closed before it started.
        return cls(sys.stdin or io.StringIO(), sys.stdout or io.StringIO(), sys.stderr or io.StringIO())


class Screen:
    """The output of one run of a command."""

    def __init__(self, streams: Streams, environ: Mapping[str, str], *, as_json: bool = False, verbosity: int = 0) -> None:
        self.streams = streams
        self.environ = environ
        self.verbosity = verbosity
        self.on_terminal = streams.stdout.isatty()
        self.colour = colour_wanted(environ, self.on_terminal)
        self.error_colour = colour_wanted(environ, streams.stderr.isatty())
        self.wants_text = self.on_terminal and not as_json

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked: both ends of a question, stdin and stderr, are a terminal."""
        return self.streams.stdin.isatty() and self.streams.stderr.isatty()

    def show(self, value: object, render: Callable[[Console], None]) -> None:
        """Prints `value`: rendered on a terminal, as JSON in a pipe or when the command was told `--json`."""
        if self.wants_text:
            render(self.console())
        else:
            self.json(value)

    def json(self, value: object) -> None:
        """Prints `value` as indented JSON; coloured on a terminal only."""
        text = json_text(value, ascii_only=self._ascii_only)
        if self.on_terminal and self.colour:
            from rich.highlighter import JSONHighlighter

            self.console().print(JSONHighlighter()(text), soft_wrap=True)
        else:
            self.streams.stdout.write(text + "\n")

    def json_line(self, value: object) -> None:
        """Prints `value` as one line of JSON and hands it on at once: one of many that come over time."""
        self.streams.stdout.write(json_text(value, ascii_only=self._ascii_only, indent=None) + "\n")
        self.streams.stdout.flush()

    def write(self, text: str) -> None:
        """Prints text as it is, with a line end, on stdout."""
        self.streams.stdout.write(text + "\n")

    def note(self, text: str) -> None:
        """Prints a remark for people on stderr."""
        self.streams.stderr.write(harmless(text) + "\n")
        self.streams.stderr.flush()

    def diagnose(self, error: MemCastleError) -> None:
        """Prints an error on stderr: message, code, help, and with -v what caused it."""
        lines = [f"{self._styled('red', 'error:')} {harmless(error.message)}", f"  {self._styled('dim', 'code:')} {error.code}"]
        if error.help:
            help_text = harmless(error.help).replace("\n", "\n        ")
            lines.append(f"  {self._styled('dim', 'help:')} {help_text}")
        cause = error.__cause__
        while self.verbosity and cause is not None:
            lines.append(f"  {self._styled('dim', 'caused by:')} {type(cause).__name__}: {harmless(str(cause))}")
            cause = cause.__cause__ or cause.__context__
        self.streams.stderr.write("\n".join(lines) + "\n")
        self.streams.stderr.flush()

    def console(self, *, stderr: bool = False) -> Console:
        """A rich console over stdout (or stderr) that prints text literally: no markup, no emoji, no guessing."""
        from rich.console import Console

        stream = self.streams.stderr if stderr else self.streams.stdout
        colour = self.error_colour if stderr else self.colour
        return Console(
            file=stream,
            force_terminal=stream.isatty(),
            color_system="standard" if colour else None,
            width=self.width,
            markup=False,
            emoji=False,
            highlight=False,
            _environ=self.environ,
        )

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return shutil.get_terminal_size((100, 24)).columns

    @property
    def _ascii_only(self) -> bool:
        return not (getattr(self.streams.stdout, "encoding", None) or "utf-8").lower().startswith("utf")

    def _styled(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.error_colour else text


def unsupported_characters_as_escapes(stream: Any) -> None:
    """Lets a stream whose encoding lacks a character print its escape instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
