"""Refusals as complete HTTP answers, and the headers that every answer carries."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from http import HTTPStatus

from memcastle_site.errors import MethodNotAllowed, ShuttingDown, Unauthorized
from palace.errors import MemCastleError

Headers = list[tuple[bytes, bytes]]

RETRY_AFTER_SECONDS = 5
_SECURITY_HEADERS: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
_PAGE_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PAGE = (
    '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
    "<body>\n<h1>{title}</h1>\n<p>{error}</p>\n<p>{help}</p>\n<p><code>{code}</code></p>\n</body>\n</html>\n"
)


def refusal(error: MemCastleError, path: str) -> tuple[int, Headers, bytes]:
    """Status, headers and body that answer `path` with this error: a page below `/ui`, JSON elsewhere."""
    if path == "/ui" or path.startswith("/ui/"):
        content_type, body = b"text/html; charset=utf-8", _page(error)
    else:
        content_type, body = b"application/json", json_body(error)
    headers = [
        (b"content-type", content_type),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if isinstance(error, Unauthorized):
        headers.append((b"www-authenticate", b"Bearer"))
    if isinstance(error, MethodNotAllowed) and error.allowed:
        headers.append((b"allow", ", ".join(error.allowed).encode("ascii")))
    if isinstance(error, ShuttingDown):
        headers += [(b"connection", b"close"), (b"retry-after", str(RETRY_AFTER_SECONDS).encode())]
    return error.status, headers, body


def json_body(error: MemCastleError) -> bytes:
    """The body `{error, code, help}`, in ASCII."""
    return json.dumps(error.body()).encode("ascii")


def secured(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers with those added that keep a browser from guessing, framing, leaking or running what it should not.

    What the answer says itself is kept. The content security policy goes with pages only.
    """
    own = list(headers)
    values = {name.lower(): value for name, value in own}
    added = [(name, value) for name, value in _SECURITY_HEADERS if name not in values]
    is_page = values.get(b"content-type", b"").lower().startswith((b"text/html", b"application/xhtml"))
    if is_page and b"content-security-policy" not in values:
        added.append((b"content-security-policy", _PAGE_POLICY))
    return own + added


def _page(error: MemCastleError) -> bytes:
    try:
        phrase = HTTPStatus(error.status).phrase
    except ValueError:
        phrase = "Error"
    shown = {
        "title": f"{error.status} {phrase}",
        "error": error.message,
        "help": error.help,
        "code": error.code,
    }
    escaped = {name: html.escape(text) for name, text in shown.items()}
    return _PAGE.format(**escaped).encode("utf-8", "backslashreplace")
