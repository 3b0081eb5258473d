"""The listening socket, bound before anything else of the daemon exists."""

from __future__ import annotations

import errno
import socket

from memcastle_site.errors import BindFailed

_TAKEN = (
    "Another program listens there. If it is a MemCastle daemon (`python manage.py status`), use it or stop it with "
    "`python manage.py daemon stop`; otherwise choose another --port, or --port 0 for any free one."
)
_PRIVILEGED = "Ports below 1024 are for privileged users; choose a --port from 1024 on."
_NOT_HERE = "No network interface of this machine has that address; choose another --bind, such as 127.0.0.1."
_NO_FAMILY = "This machine does not speak that version of IP; choose another --bind, such as 127.0.0.1."
_HELP = {
    errno.EADDRINUSE: _TAKEN,
    errno.EACCES: _PRIVILEGED,
    errno.EPERM: _PRIVILEGED,
    errno.EADDRNOTAVAIL: _NOT_HERE,
    errno.EAFNOSUPPORT: _NO_FAMILY,
}


def bind(ip: str, port: int, backlog: int = 512) -> socket.socket:
    """A non-blocking socket that listens on an IP literal; port 0 lets the system choose.

    Clients may connect from now on: they wait in the backlog until a front opens the socket. Raises BindFailed, whose
    help depends on why; nothing is left open then.
    """
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    listener: socket.socket | None = None
    try:
        # The protocol is named, and delayed sending turned off, because accepted sockets inherit both: with Nagle's
        # algorithm every small answer waits for the acknowledgement of its head.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind((ip, port))
        listener.listen(backlog)
        listener.setblocking(False)
    except OSError as error:
        if listener is not None:
            listener.close()
        reason = error.strerror or str(error)
        raise BindFailed(f"{address_text(ip, port)} cannot be bound: {reason}", help=_HELP.get(error.errno or 0)) from error
    return listener


def address_text(ip: str, port: int) -> str:
    """`ip:port`, with brackets around an IPv6 address."""
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"
