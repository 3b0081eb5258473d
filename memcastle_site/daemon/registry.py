"""The registry file: where the daemon of a palace can be found.

It is a hint. A process that was killed leaves it behind, and the pid in it may by now be another program's, so the
daemon's boot and start time stand beside the pid. The truth is a live answer over HTTP.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from memcastle_site.daemon.sockets import address_text
from memcastle_site.gate.hosts import parse_authority
from palace.domain.clock import Timestamp
from palace.errors import FileFailed

FILE_NAME = "daemon.json"
_PROC = Path("/proc")
_ENDED = frozenset("ZX")
"""Process states of one that has ended and waits to be collected."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells one process from a later one with the same pid: the boot, and the clock ticks from it to the start."""

    boot_id: str
    start_ticks: int


@dataclass(frozen=True, slots=True)
class Registration:
    """One daemon: process, address really bound (`ip:port`), start (RFC 3339) and version."""

    pid: int
    bind_addr: str
    started_at: str
    version: str
    identity: Identity | None

    @property
    def address(self) -> tuple[str, int]:
        """The bound IP address and port."""
        authority = parse_authority(self.bind_addr)
        if authority is None or authority.port is None:
            raise ValueError(f"{self.bind_addr!r} is no address")
        return authority.host, authority.port


@dataclass(frozen=True, slots=True)
class Found:
    """What a registry file tells. A stale one without a registration could not be understood."""

    state: Literal["absent", "live", "stale"]
    registration: Registration | None = None


def registry_path(state_dir: Path, palace: Path) -> Path:
    """The registry file of a palace; the same before and after the palace's directory exists."""
    try:
        canonical = os.path.realpath(palace)
    except OSError:
        canonical = str(palace)
    digest = hashlib.sha256(os.fsencode(canonical)).hexdigest()[:16]
    return state_dir / "run" / digest / FILE_NAME


def registration_of_this_process(ip: str, port: int, started_at: Timestamp, version: str) -> Registration:
    """What this process writes once it listens on `ip` and `port`."""
    pid = os.getpid()
    started = started_at.removesuffix("Z") + "+00:00"
    return Registration(pid, address_text(ip, port), started, version, identity_of(pid))


def identity_of(pid: int) -> Identity | None:
    """The identity of a running process; None where the system does not tell, or when there is no such process."""
    status = _status_of(pid)
    try:
        boot_id = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if status is None else Identity(boot_id, status[1])


def read(path: Path) -> Found:
    """What the registry file says and whether its process lives. Raises FileFailed when it may not be read."""
    try:
        with path.open("rb") as file:
            foreign = os.fstat(file.fileno()).st_uid not in (os.getuid(), 0)
            content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return Found("absent")
    except OSError as error:
        raise FileFailed(f"the registry file {str(path)!r} cannot be read: {error.strerror}") from error
    # A file that someone else put there could send our token to an address of his.
    registration = None if foreign else _parsed(content)
    if registration is None:
        return Found("stale")
    return Found("live" if lives(registration) else "stale", registration)


def write(path: Path, registration: Registration) -> None:
    """Writes the file in one step, readable by its owner only. Raises FileFailed."""
    content = json.dumps(_as_document(registration), indent=2) + "\n"
    temporary: str | None = None
    try:
        _make_private(path.parent)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{FILE_NAME}.")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise FileFailed(f"the registry file {str(path)!r} cannot be written: {error.strerror}") from error


def remove(path: Path, registration: Registration) -> bool:
    """Removes the file if it still says what `registration` says; whether it did. Raises FileFailed."""
    if read(path).registration != registration:
        return False
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise FileFailed(f"the registry file {str(path)!r} cannot be removed: {error.strerror}") from error
    return True


def lives(registration: Registration) -> bool:
    """Whether the registered process still runs; one that ended and was not collected yet does not."""
    try:
        os.kill(registration.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    status = _status_of(registration.pid)
    if status is not None and status[0] in _ENDED:
        return False
    now = identity_of(registration.pid)
    return registration.identity is None or now is None or now == registration.identity


def _status_of(pid: int) -> tuple[str, int] | None:
    """State letter and start time (clock ticks since boot) of a process; None where the system does not tell."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field, the program's name in parentheses, may itself hold spaces and parentheses.
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[19])


def _as_document(registration: Registration) -> dict[str, object]:
    identity = registration.identity
    return {
        "pid": registration.pid,
        "bind_addr": registration.bind_addr,
        "started_at": registration.started_at,
        "version": registration.version,
        "identity": None if identity is None else {"boot_id": identity.boot_id, "start_ticks": identity.start_ticks},
    }


def _parsed(content: bytes) -> Registration | None:
    """The registration that a file holds; None for anything that no daemon wrote."""
    try:
        document = json.loads(content)
        identity = document.get("identity")
        registration = Registration(
            pid=document["pid"],
            bind_addr=document["bind_addr"],
            started_at=document["started_at"],
            version=document["version"],
            identity=None if identity is None else Identity(identity["boot_id"], identity["start_ticks"]),
        )
        texts = (registration.bind_addr, registration.started_at, registration.version)
        if not all(isinstance(text, str) for text in texts) or type(registration.pid) is not int or registration.pid <= 0:
            return None
        _ = registration.address
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return registration


def _make_private(directory: Path) -> None:
    """Makes the directory of a registry file and the two above it for their owner alone; refuses another's."""
    for level in (directory.parent.parent, directory.parent, directory):
        level.mkdir(mode=0o700, parents=True, exist_ok=True)
        if level.stat().st_uid not in (os.getuid(), 0):
            raise PermissionError(0, f"{level} belongs to another user")
    directory.chmod(0o700)
