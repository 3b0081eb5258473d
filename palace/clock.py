"""The clock of the process: the only place that asks what time it is."""

from __future__ import annotations

import time

from palace.domain.clock import Timestamp, canonical


def now() -> Timestamp:
    """The present instant in canonical form."""
    return canonical(time.time_ns())
