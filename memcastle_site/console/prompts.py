"""Questions before something is destroyed."""

from __future__ import annotations

from collections.abc import Callable

from memcastle_site.console.output import Screen
from memcastle_site.console.text import harmless
from memcastle_site.errors import CommandAborted, PromptFailed


def confirm(screen: Screen, question: Callable[[], str], *, yes: bool) -> None:
    """Asks on stderr; the default is no. Asks nothing, nor makes the question, with `yes` or when no person can answer.

    Raises CommandAborted on no, PromptFailed when the terminal goes away or the person interrupts.
    """
    if yes or not screen.interactive:
        return
    asked = harmless(question())
    try:
        screen.streams.stderr.write(f"{asked} [y/N] ")
        screen.streams.stderr.flush()
        answer = screen.streams.stdin.readline()
    except (KeyboardInterrupt, OSError, ValueError) as error:
        raise PromptFailed("the question could not be answered") from error
    if not answer:
        raise PromptFailed("the terminal closed before the question was answered")
    if answer.strip().lower() not in ("y", "yes"):
        raise CommandAborted("not confirmed")
