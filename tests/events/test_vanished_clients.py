"""Hazard: a client is gone without a word (its machine lost power), so its stream looks open for ever."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.events.conftest import OpenStream
from tests.support import Daemon, until

TCP_REPAIR = 19
"""A connection in repair mode is closed without telling the other side. From linux/tcp.h; needs CAP_NET_ADMIN."""


def is_established(daemon: Daemon, client_port: int) -> bool:
    ends = (f":{daemon.port:04X}", f":{client_port:04X}")
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(ends[0]) and row[2].endswith(ends[1]) and row[3] == "01" for row in rows)


def vanish(connection: socket.socket) -> None:
    try:
        connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    except PermissionError:
        pytest.skip("only a privileged process can leave a connection without a word")
    connection.close()


def test_the_next_comment_finds_out(shared_daemon: Daemon, follow: OpenStream) -> None:
    stream = follow(shared_daemon, "?kinds=wing")
    port = stream.connection.getsockname()[1]
    vanish(stream.connection)
    assert is_established(shared_daemon, port)
    until(lambda: not is_established(shared_daemon, port), "the daemon to notice")


def test_the_next_event_finds_out(shared_daemon: Daemon, follow: OpenStream) -> None:
    stream, other = follow(shared_daemon, "?kinds=drawer"), follow(shared_daemon, "?kinds=drawer")
    port = stream.connection.getsockname()[1]
    vanish(stream.connection)
    drawer = shared_daemon.post("/api/wings/vanished/rooms/r/drawers", {"content": "text"})["id"]
    assert other.next().data["id"] == drawer
    until(lambda: not is_established(shared_daemon, port), "the daemon to notice")


def test_a_client_that_sends_no_more_has_left(shared_daemon: Daemon, follow: OpenStream) -> None:
    stream = follow(shared_daemon)
    stream.connection.shutdown(socket.SHUT_WR)
    port = stream.connection.getsockname()[1]
    until(lambda: not is_established(shared_daemon, port), "the daemon to close its side")
