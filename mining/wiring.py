"""Connects mining to the daemon: its job kind."""

from __future__ import annotations

from jobs import kinds
from jobs.domain.job import Job, Priority
from mining.api import MineIn
from mining.handlers import mine
from mining.services import submit_mine
from palace.domain.modes import Caller


async def _submit(body: MineIn, caller: Caller) -> Job:
    return await submit_mine(caller, body.wish())


MINE = kinds.JobKind(
    type="mine",
    priority=Priority.BACKGROUND,
    background=True,
    writes_palace=kinds.always,
    request=MineIn,
    submit=_submit,
    handler=mine,
    can_be_forced=True,
)


def connect() -> None:
    """Registers the kind; safe to repeat."""
    kinds.register(MINE)
