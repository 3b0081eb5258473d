"""Opens the palace the way `serve` and `migrate` both do."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memcastle_site.conf import PalaceConfig, StoreConfig
from palace.configuration import current as configured
from palace.errors import ConfigInvalid, FileFailed, StoreFailed
from palace.store import Server, Store, open_embedded, open_remote

DATABASE_DIRECTORY = "db"
OWN_NAMES = frozenset({DATABASE_DIRECTORY, "preferences.toml"})


SERVER_PATIENCE_SECONDS = 10.0
"""How long a daemon that starts waits for a database server that may be starting too."""


async def open_palace(*, patience: float = 0.0) -> Store:
    """Opens the configured palace and creates it when missing; neither definitions nor data are touched.

    A palace on a server has its directory all the same: it keys the registry file. `patience` says for how many seconds
    such a server is tried again. Raises ConfigInvalid for a directory that holds something else, FileFailed when it
    cannot be used, StoreFailed when another process has it open or the server cannot be reached.
    """
    path = configured(PalaceConfig).path
    config = configured(StoreConfig)
    _require_palace(path)
    if config.mode == "embedded":
        return await open_embedded(path / DATABASE_DIRECTORY, sync=config.sync)
    return await open_remote(_server(config), patience=patience)


def _server(config: StoreConfig) -> Server:
    names = (config.url, config.namespace, config.database, config.username, config.password)
    url, namespace, database, username, password = (name or "" for name in names)
    return Server(url, namespace, database, username, password, float(config.query_timeout_secs))


@contextmanager
def sole_daemon_of(path: Path) -> Iterator[None]:
    """Keeps a second daemon from the same palace directory, for the length of a `with` block.

    An embedded database does that by itself; daemons that share a database on a server each need a directory of their
    own, since it is how commands find the daemon they mean. Raises StoreFailed.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreFailed(
                f"another daemon uses the palace directory {path}",
                help="Use the running one (`python manage.py status`), or name another directory with --palace: "
                "daemons that share a palace on a server each have one of their own.",
            ) from error
        yield
    finally:
        os.close(descriptor)


def _require_palace(path: Path) -> None:
    """A palace is a directory of its own: a mistyped path must not scatter a database into somebody's files.

    A new one is for its owner alone: memory is private.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        strangers = sorted(entry.name for entry in path.iterdir() if entry.name not in OWN_NAMES)
    except OSError as error:
        raise FileFailed(f"the palace directory {path} cannot be used: {error.strerror or error}") from error
    if strangers and not (path / DATABASE_DIRECTORY).is_dir():
        raise ConfigInvalid(
            f"palace.path: {path} is no palace; it holds other things ({', '.join(strangers[:3])})",
            help="Name an empty or new directory, or one that an earlier daemon made.",
        )
