"""The memory-mode gate. Services call it before they touch the store; nothing else decides."""

from __future__ import annotations

from palace.domain.modes import Caller, MemoryMode
from palace.errors import InvalidInput, ModeForbidden


def parse_mode(text: str | None, field: str) -> MemoryMode:
    """The mode named by `text`; None means full. Exact lower case only. Raises InvalidInput on `field`."""
    if text is None:
        return MemoryMode.FULL
    try:
        return MemoryMode(text)
    except ValueError:
        accepted = ", ".join(mode.value for mode in MemoryMode)
        raise InvalidInput(field, f"{text!r} is no memory mode; accepted are {accepted}") from None


def require_read(caller: Caller, operation: str) -> None:
    """Raises ModeForbidden when the caller's mode refuses reads; `operation` is the name the caller asked for."""
    if not caller.mode.allows_read:
        raise ModeForbidden(f"{operation} reads memory, which the memory mode {caller.mode.value} refuses")


def require_write(caller: Caller, operation: str) -> None:
    """Raises ModeForbidden when the caller's mode refuses writes."""
    if not caller.mode.allows_write:
        raise ModeForbidden(f"{operation} writes memory, which the memory mode {caller.mode.value} refuses")
