"""The fingerprint of a text."""

from __future__ import annotations

import hashlib

_BYTE_ORDER_MARK = "\ufeff"


def content_hash(text: str) -> str:
    """SHA-256 (hex) of the UTF-8 text without one leading byte order mark and with CRLF read as LF.

    An editor that changes only the mark or the line ends has not changed the content. Stored state: a changed rule
    would make every document look new.
    """
    return hashlib.sha256(text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").encode()).hexdigest()
