"""What the running daemon knows of itself. Set once by `memcastle_site.daemon.life`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from palace.domain.clock import Timestamp


@dataclass(frozen=True, slots=True)
class DaemonState:
    """Identity and address of this daemon, and how to ask it to stop."""

    pid: int
    started_at: Timestamp
    bind_addr: str
    palace_path: Path
    request_shutdown: Callable[[], None]
    monotonic_start: float = field(default_factory=time.monotonic)

    @property
    def uptime_secs(self) -> int:
        return int(time.monotonic() - self.monotonic_start)


_state: DaemonState | None = None


def install(state: DaemonState | None) -> None:
    """Makes `state` the daemon of this process."""
    global _state
    _state = state


def current() -> DaemonState:
    """The daemon of this process. Raises RuntimeError outside of one."""
    if _state is None:
        raise RuntimeError("this process is no daemon")
    return _state
