"""How single values of the configuration are read: each function gives the value to use, or raises ValueError saying
what is accepted.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from memcastle_site.gate.hosts import parse_authority, parse_origin
from memcastle_site.logs import parse_levels
from palace.configuration import FromText

TOKEN_LENGTH = 16
"""Fewest characters of `auth.token`."""

_INTERVAL = re.compile(r"([0-9]{1,9})(ms|s|m)", re.ASCII)
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000}


def bind_address(value: object) -> str:
    """An IP address."""
    accepted = "an IPv4 or IPv6 address such as 127.0.0.1 or ::1, not a host name"
    if not isinstance(value, str):
        raise ValueError(accepted)
    try:
        return str(ipaddress.ip_address(str(value)))
    except ValueError:
        authority = parse_authority(value)
        if authority is not None and authority.port is not None:
            accepted = "an IP address alone; the port has a setting of its own (server.port or db.port)"
        raise ValueError(accepted) from None


def host_name(text: str) -> str:
    """A host name without scheme, port or path."""
    authority = parse_authority(text)
    if authority is None or authority.port is not None:
        raise ValueError
    return authority.host


def web_origin(text: str) -> str:
    """The origin of web pages."""
    origin = parse_origin(text)
    if origin is None:
        raise ValueError
    return str(origin)


def level(value: object) -> str:
    """A level of logging or directives."""
    if not isinstance(value, str):
        raise ValueError("a string: a level or directives such as memcastle=debug,warn")
    parse_levels(value)
    return value.strip()


def token(value: object) -> str:
    """A bearer token."""
    if not isinstance(value, str):
        raise ValueError("a string")
    given = value.strip() if isinstance(value, FromText) else value
    if given != given.strip():
        raise ValueError("written without white space at its edges")
    if len(given) < TOKEN_LENGTH:
        raise ValueError(f"at least {TOKEN_LENGTH} characters long")
    if not all(" " <= character <= "~" for character in given):
        raise ValueError("made of printable ASCII characters, since no other fits into an HTTP header")
    return str(given)


def store_url(value: object) -> str:
    """The address of a database server."""
    accepted = "a URL such as ws://127.0.0.1:8000 or wss://database.example, without query and fragment"
    if not isinstance(value, str) or not value.isascii() or any(character <= " " for character in value):
        raise ValueError(accepted)
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:
        raise ValueError(accepted) from None
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(accepted)
    return str(value)


def sync(value: object) -> str:
    """When writes reach the disk."""
    word = value.strip().lower() if isinstance(value, str) else ""
    interval = _INTERVAL.fullmatch(word)
    long_enough = interval is not None and int(interval[1]) * _MILLISECONDS[interval[2]] > 100
    if word not in ("every", "never") and not long_enough:
        raise ValueError("'every', 'never' or an interval of more than 100 ms, such as 500ms, 2s or 1m")
    return word
