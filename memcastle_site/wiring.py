"""Connects the apps for a daemon: importing an app's wiring registers its job kinds and its listeners.

Only the daemon pays for this; commands never import it.
"""

from __future__ import annotations

import jobs.wiring
import mining.wiring

MODULES = (jobs.wiring, mining.wiring)


def connect() -> None:
    """Registers what every app brings; safe to repeat."""
    for module in MODULES:
        module.connect()
