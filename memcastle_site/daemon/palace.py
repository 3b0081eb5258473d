"""Opens the palace the way `serve` and `migrate` both do."""

from __future__ import annotations

from pathlib import Path

from memcastle_site.conf import PalaceConfig, StoreConfig
from palace.configuration import current as configured
from palace.errors import ConfigInvalid, FileFailed
from palace.store import Store, open_embedded

DATABASE_DIRECTORY = "db"
OWN_NAMES = frozenset({DATABASE_DIRECTORY, "preferences.toml"})


async def open_palace() -> Store:
    """Opens the configured palace and creates it when missing; neither definitions nor data are touched.

    Raises ConfigInvalid for a directory that holds something else, FileFailed when it cannot be used, StoreFailed
    when another process has it open.
    """
    path = configured(PalaceConfig).path
    _require_palace(path)
    return await open_embedded(path / DATABASE_DIRECTORY, sync=configured(StoreConfig).sync)


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
