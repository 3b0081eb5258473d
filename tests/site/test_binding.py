"""The listening socket: bound or explained."""

from __future__ import annotations

import errno
import socket

import pytest

from memcastle_site.daemon.sockets import address_text, bind
from memcastle_site.errors import BindFailed


def test_port_zero_lets_the_system_choose_and_clients_may_wait_in_the_backlog() -> None:
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert port > 0
        assert not listener.getblocking()
        socket.create_connection(("127.0.0.1", port), timeout=5).close()


def test_answers_are_not_held_back() -> None:
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_ipv6_address_is_bound() -> None:
    with bind("::1", 0) as listener:
        assert listener.family == socket.AF_INET6


def test_taken_address_is_refused_at_once_with_help() -> None:
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(BindFailed) as refused:
            bind("127.0.0.1", port)

    assert f"127.0.0.1:{port}" in refused.value.message
    assert "daemon stop" in refused.value.help
    assert refused.value.code == "memcastle::server::bind_failed"


def test_address_of_another_machine_is_explained() -> None:
    with pytest.raises(BindFailed) as refused:
        bind("192.0.2.1", 0)

    assert "--bind" in refused.value.help


def test_privileged_port_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "listen", denied)
    with pytest.raises(BindFailed) as refused:
        bind("127.0.0.1", 0)

    assert "1024" in refused.value.help


def test_socket_that_could_not_listen_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    listen = socket.socket.listen

    def failing(self: socket.socket, backlog: int) -> None:
        opened.append(self)
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(socket.socket, "listen", failing)
    with pytest.raises(BindFailed):
        bind("127.0.0.1", 0)
    monkeypatch.setattr(socket.socket, "listen", listen)

    assert [sock.fileno() for sock in opened] == [-1]


def test_address_is_written_with_brackets_for_ipv6() -> None:
    assert address_text("127.0.0.1", 1) == "127.0.0.1:1"
    assert address_text("::1", 1) == "[::1]:1"
