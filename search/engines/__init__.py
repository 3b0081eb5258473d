"""The engines that answer searches."""

from search.domain.engine import Engine
from search.engines.surreal import SurrealEngine


def engine() -> Engine:
    """The engine in force."""
    return SurrealEngine()
