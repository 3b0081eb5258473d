"""The change outbox: what each write transaction changed, in commit order, ids and kinds only.

A write transaction carries one fragment made by `announce`. The table has a change feed, whose version stamps are
the commit order, so a reader never meets an entry before its change can be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from palace.domain.clock import Timestamp, add_seconds
from palace.store.connection import Fragment, Store

KEEP_SECONDS = 3 * 86_400
"""How long entries are kept; the change feed in `schema/palace.surql` says the same."""


@dataclass(frozen=True, slots=True)
class Change:
    """One changed thing. `id` is absent where a transaction changed many of a kind at once."""

    kind: str
    action: str
    id: str | None = None
    detail: tuple[tuple[str, str], ...] = ()
    """Further words such as a job's kind and status; never content, names or paths."""

    def as_entry(self) -> dict[str, str]:
        entry = {"kind": self.kind, "action": self.action, **dict(self.detail)}
        return entry if self.id is None else {**entry, "id": self.id}


@dataclass(frozen=True, slots=True)
class Stamped:
    """The changes of one transaction with their place in the commit order."""

    stamp: int
    entries: tuple[dict[str, Any], ...]


APPEND = "CREATE change CONTENT { at: $change_at, entries: $change_entries } RETURN NONE;"


def announce(at: Timestamp, *changes: Change) -> Fragment:
    """The fragment that appends these changes to the outbox, as part of the transaction that makes them."""
    return Fragment(APPEND, {"change_at": at, "change_entries": [change.as_entry() for change in changes]})


READ = "SHOW CHANGES FOR TABLE change SINCE {since} LIMIT {limit};"


async def read_changes(store: Store, since: int, limit: int = 1000) -> list[Stamped]:
    """Transactions from the version stamp `since` on (inclusive), oldest first, at most `limit` of them."""
    # The statement takes literals only; both are integers here.
    rows: Sequence[dict[str, Any]] = await store.first(READ.format(since=int(since), limit=int(limit)))
    found = []
    for row in rows:
        entries = [entry for change in row["changes"] for entry in change.get("update", {}).get("entries", ())]
        if entries:
            found.append(Stamped(row["versionstamp"], tuple(entries)))
    return found


PURGE = "DELETE change WHERE at < $before RETURN NONE;"


async def purge_changes(store: Store, now: Timestamp) -> None:
    """Removes entries past their keeping time."""
    await store.query(PURGE, before=add_seconds(now, -KEEP_SECONDS))
