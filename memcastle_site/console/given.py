"""Text that a command is given in a file or on stdin."""

from __future__ import annotations

from pathlib import Path

from memcastle_site.console.output import Screen
from palace.errors import FileFailed, InvalidInput


def given_text(screen: Screen, file: str | None, what: str) -> str:
    """What the file holds, byte for byte, or stdin when it is `-` or None. `what` names it to people.

    Raises FileFailed, or InvalidInput on `what` when it is not UTF-8.
    """
    if file is None or file == "-":
        stdin = screen.streams.stdin
        if stdin.isatty():
            screen.note(f"Type the {what} and end it with Ctrl-D.")
        raw = stdin.buffer.read() if hasattr(stdin, "buffer") else stdin.read().encode()
        place = "stdin"
    else:
        place = file
        try:
            raw = Path(file).read_bytes()
        except OSError as error:
            raise FileFailed(f"{file}: {error.strerror or error}") from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(what, f"{place} is not UTF-8 text (byte {error.start})") from None
