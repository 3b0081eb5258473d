"""Reads files that may turn out to be anything."""

from __future__ import annotations

import errno
import os
import stat

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK


def read_regular(path: str, max_bytes: int, *, follow: bool = False) -> tuple[bytes, os.stat_result]:
    """The content of a regular file, cut one byte after `max_bytes`, and its state before the reading.

    Pipes, sockets and devices are never waited for. Raises OSError: whatever the system says, with ELOOP for a
    symbolic link (unless `follow`) and EINVAL for what is no regular file.
    """
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(max_bytes + 1), state
    finally:
        os.close(descriptor)
