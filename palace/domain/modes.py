"""Memory modes: what a request may do to memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MemoryMode(StrEnum):
    """Advisory, per request or session; never a property of the daemon."""

    FULL = "full"
    READ_ONLY = "read_only"
    DISABLED = "disabled"

    @property
    def allows_read(self) -> bool:
        return self is not MemoryMode.DISABLED

    @property
    def allows_write(self) -> bool:
        return self is MemoryMode.FULL


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the memory mode of the request and the channel it came through (`cli`, `http`, `mcp`, free text)."""

    mode: MemoryMode = MemoryMode.FULL
    requested_by: str = "http"
