"""Following what changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from palace.domain.modes import Caller
from palace.errors import InvalidInput
from palace.events import Subscription, current
from palace.modes import require_read

KINDS = ("job", "drawer", "wing", "room")
"""Kinds of event; docs/events.md describes them."""


@asynccontextmanager
async def follow(caller: Caller, kinds: str | None = None, last_event_id: str | None = None) -> AsyncIterator[Subscription]:
    """A subscription to what changes from now on, for the length of a `with` block.

    `kinds` names kinds of event, separated by commas; None is all of them. With the id of the last event that was
    seen, what has happened since comes first, or a `resync` when that cannot be told any more. Raises InvalidInput on
    `query` for an unknown kind.
    """
    wanted = None if kinds is None else _kinds(kinds)
    require_read(caller, "events")
    tailer = current()
    subscription = tailer.bus.subscribe(wanted)
    try:
        if last_event_id is not None:
            missed = await tailer.missed(last_event_id)
            if missed is None:
                subscription.lose()
            else:
                subscription.replay(missed)
        yield subscription
    finally:
        tailer.bus.unsubscribe(subscription)


def _kinds(text: str) -> set[str]:
    named = {word for part in text.split(",") if (word := part.strip())}
    if unknown := sorted(named - set(KINDS)):
        raise InvalidInput("query", f"{', '.join(unknown)} is no kind of event; accepted are {', '.join(KINDS)}")
    if not named:
        raise InvalidInput("query", f"kinds names no kind of event; accepted are {', '.join(KINDS)}")
    return named
