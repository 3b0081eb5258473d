from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.events.support import Stream
from tests.support import Daemon

OpenStream = Callable[..., Stream]


@pytest.fixture
def follow() -> Iterator[OpenStream]:
    """Opens streams that are closed after the test."""
    opened: list[Stream] = []

    def open_stream(daemon: Daemon, query: str = "", **headers: str) -> Stream:
        opened.append(Stream.open(daemon, query, **headers))
        return opened[-1]

    yield open_stream
    for stream in opened:
        stream.close()
