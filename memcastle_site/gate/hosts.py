"""Which hosts the daemon answers for, and which web pages may talk to it.

A name an attacker owns can be made to point at 127.0.0.1, after which his page talks to the daemon as its own site (DNS
rebinding). Such a request names the attacker's host. An IP literal cannot be rebound, and `localhost` never leaves the
machine, so these two and the names the operator listed are the only ones answered.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._~-]+))(?::(?P<port>[0-9]{0,5}))?", re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Authority:
    """A host, a name in lower case or an IP address in canonical form, and the port if one was written."""

    host: str
    port: int | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Origin:
    """The scheme and authority of a web page."""

    scheme: str
    authority: Authority

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


def parse_authority(text: str) -> Authority | None:
    """`host`, `host:port` or `[v6]:port`; None for anything else."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    port = int(match["port"]) if match["port"] else None
    if port is not None and port > 65535:
        return None
    if match["v6"] is None:
        host = match["host"].lower().removesuffix(".")
        return Authority(host, port) if host else None
    address = _address(match["v6"])
    return Authority(str(address), port) if isinstance(address, ipaddress.IPv6Address) else None


def parse_origin(text: str) -> Origin | None:
    """`scheme://host[:port]`; a port that is the scheme's own is dropped. None for anything else, `null` included."""
    scheme, separator, rest = text.partition("://")
    authority = parse_authority(rest)
    scheme = scheme.lower()
    if not separator or authority is None or not _SCHEME.fullmatch(scheme):
        return None
    if authority.port == _DEFAULT_PORTS.get(scheme):
        authority = Authority(authority.host, None)
    return Origin(scheme, authority)


def host_allowed(authority: Authority, allowed_hosts: Collection[str]) -> bool:
    """Whether the daemon answers for this host; the port does not matter."""
    return _is_local_name(authority.host) or _address(authority.host) is not None or authority.host in allowed_hosts


def origin_allowed(origin: Origin, host: Authority, allowed_origins: Collection[str]) -> bool:
    """Whether a page of `origin` may send requests to the daemon it addressed as `host`.

    It may when it is the daemon's own page, under the same name or another name of this machine, or when the operator
    listed it (`allowed_origins`, in the form that `Origin` prints).
    """
    if str(origin) in allowed_origins:
        return True
    default = _DEFAULT_PORTS.get(origin.scheme)
    if default is None or (origin.authority.port or default) != (host.port or default):
        return False
    own = origin.authority.host
    return own == host.host or (_is_loopback(own) and _is_loopback(host.host))


def _is_local_name(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return _is_local_name(host) if address is None else address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
