"""Keeps the database's definitions equal to the `.surql` files of the apps.

Each definition (a table, field, index, analyzer) is known by its kind and name, and its text is hashed. At a start
only those whose hash differs from the recorded one are applied, and those that disappeared from the files are
removed (a table only when it holds nothing). So an unchanged palace costs one read, and only a changed index is
rebuilt.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palace.errors import MemCastleError, SchemaSyncFailed
from palace.store.connection import Fragment, Store

logger = logging.getLogger("memcastle.store")

_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_HEAD = re.compile(
    r"DEFINE\s+(?P<kind>TABLE|FIELD|INDEX|ANALYZER)\s+(?P<name>\S+)(?:\s+ON\s+(?:TABLE\s+)?(?P<table>\w+))?",
)
_REMOVAL_ORDER = ("INDEX", "FIELD", "ANALYZER", "TABLE")


@dataclass(frozen=True, slots=True)
class Definition:
    """One DEFINE statement, without its closing semicolon."""

    kind: str
    name: str
    table: str | None
    statement: str

    @property
    def key(self) -> str:
        return f"{self.kind} {self.name}" + (f" ON {self.table}" if self.table and self.kind != "TABLE" else "")

    @property
    def digest(self) -> str:
        return hashlib.sha256(" ".join(self.statement.split()).encode()).hexdigest()

    @property
    def applied(self) -> str:
        """The statement as it is sent, replacing an older form of the same definition."""
        return self.statement.replace(f"DEFINE {self.kind}", f"DEFINE {self.kind} OVERWRITE", 1) + ";"

    @property
    def if_missing(self) -> str:
        """The statement that leaves an older form as it is."""
        return self.statement.replace(f"DEFINE {self.kind}", f"DEFINE {self.kind} IF NOT EXISTS", 1) + ";"


def read_definitions(directories: Iterable[Path]) -> list[Definition]:
    """The definitions of all `*.surql` files, in order of directory, file name and place in the file."""
    definitions = [
        definition
        for directory in directories
        for file in sorted(directory.glob("*.surql"))
        for definition in _parsed(file.read_text(encoding="utf-8"))
    ]
    keys = [definition.key for definition in definitions]
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise SchemaSyncFailed(f"the schema files define {', '.join(sorted(twice))} twice")
    return definitions


def _parsed(text: str) -> Iterator[Definition]:
    for statement in _COMMENT.sub("", text).split(";"):
        if not statement.strip():
            continue
        head = _HEAD.match(statement.strip())
        if head is None:
            raise SchemaSyncFailed(f"the schema files hold something else than a definition: {statement.strip()[:60]!r}")
        yield Definition(head["kind"], head["name"], head["table"], statement.strip())


RECORD_TABLE = """
DEFINE TABLE IF NOT EXISTS schema_definition SCHEMAFULL;
DEFINE FIELD IF NOT EXISTS digest ON schema_definition TYPE string;
"""
READ_RECORDED = "SELECT record::id(id) AS key, digest FROM schema_definition;"
RECORD = """
FOR $recorded IN $recorded_definitions {
    UPSERT type::record('schema_definition', $recorded.key) CONTENT { digest: $recorded.digest } RETURN NONE;
};
DELETE $forgotten_definitions.map(|$key| type::record('schema_definition', $key)) RETURN NONE;
"""
ANY_ROW = "SELECT VALUE id FROM type::table($table) LIMIT 1;"


@dataclass(frozen=True, slots=True)
class Differences:
    """What the database has otherwise than the files: definitions to apply, and keys that are in no file."""

    changed: tuple[Definition, ...]
    gone: frozenset[str]

    @property
    def any(self) -> bool:
        return bool(self.changed or self.gone)


async def definitions_to_sync(store: Store, definitions: list[Definition]) -> Differences:
    """Compares the definitions with those that the database has on record."""
    await store.query(RECORD_TABLE)
    rows: list[dict[str, Any]] = await store.first(READ_RECORDED)
    recorded = {row["key"]: row["digest"] for row in rows}
    changed = tuple(definition for definition in definitions if recorded.get(definition.key) != definition.digest)
    return Differences(changed, frozenset(recorded.keys() - {definition.key for definition in definitions}))


async def sync_schema(
    store: Store, definitions: list[Definition], *, remove: bool = True, guard: Fragment | None = None
) -> tuple[str, ...]:
    """Applies what changed and removes what disappeared, in one transaction; returns the keys touched.

    Without `remove`, what disappeared stays and stays on record. `guard` goes first in the transaction.
    Raises SchemaSyncFailed with the engine's own words; the definitions are then as they were.
    """
    differences = await definitions_to_sync(store, definitions)
    gone = await _removable(store, differences.gone) if remove else ()
    if differences.gone and not remove:
        logger.info("definitions that are in use no more are kept", extra={"kept": len(differences.gone)})
    touched = (*gone, *(definition.key for definition in differences.changed))
    if not touched:
        return ()
    statements = [f"REMOVE {_removal(key)};" for key in gone] + [definition.applied for definition in differences.changed]
    variables = {
        "recorded_definitions": [{"key": changed.key, "digest": changed.digest} for changed in differences.changed],
        "forgotten_definitions": list(gone),
    }
    guards = () if guard is None else (guard,)
    try:
        await store.transact(*guards, Fragment("\n".join(statements)), Fragment(RECORD, variables))
    except MemCastleError as error:
        raise SchemaSyncFailed(f"the definitions could not be brought up to date: {error.message}") from error
    logger.info("schema synchronised", extra={"applied": len(differences.changed), "removed": len(gone)})
    return touched


async def _removable(store: Store, gone: Iterable[str]) -> tuple[str, ...]:
    """Definitions to remove, in an order that works. A table that still holds rows is kept: rows are memory."""
    removable = []
    for key in sorted(gone, key=lambda key: (_REMOVAL_ORDER.index(key.split()[0]), key)):
        table = key.removeprefix("TABLE ")
        if table != key and await store.first(ANY_ROW, table=table):
            logger.warning("a table without a definition still holds rows and is kept", extra={"table": table})
        else:
            removable.append(key)
    return tuple(removable)


def _removal(key: str) -> str:
    kind, rest = key.split(" ", 1)
    return f"{kind} IF EXISTS {rest}"
