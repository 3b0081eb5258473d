"""The change outbox: what each write transaction changed, in commit order, ids and kinds only.

A write transaction carries one fragment made by `announce`. The table has a change feed, so a reader never meets an
entry before its change can be read. The feed's version stamps are given at the commit, from the database's clock
(milliseconds since 1970 in the upper bits). Transactions that commit side by side may become readable in another
order than that of their stamps (a millisecond apart, in an embedded database under 16 writers): whoever follows the
feed reads the last stretch again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from palace.domain.clock import Timestamp, add_seconds
from palace.store.connection import Fragment, Store

KEEP_SECONDS = 3 * 86_400
"""How long entries are kept; the change feed in `schema/palace.surql` says the same."""
MILLISECOND = 1 << 16
"""A millisecond in version stamps."""
OVERLAP = 1000 * MILLISECOND
"""How far behind the newest stamp a transaction may still appear when several servers or daemons write."""
SHORT_OVERLAP = 100 * MILLISECOND
"""The same for a database inside this process."""
PAGE_ROWS = 1000


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


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the feed, oldest first. `rest` is the stamp at which to go on, None at the end of the feed."""

    transactions: tuple[Stamped, ...]
    rest: int | None


APPEND = "CREATE change CONTENT { at: $change_at, entries: $change_entries } RETURN NONE;"


def announce(at: Timestamp, *changes: Change) -> Fragment:
    """The fragment that appends these changes to the outbox, as part of the transaction that makes them."""
    entries = [change.as_entry() for change in changes]
    return Fragment(APPEND, {"change_at": at, "change_entries": entries}, announces=True)


READ = "SHOW CHANGES FOR TABLE change SINCE {since} LIMIT {limit};"


async def read_page(store: Store, since: int, limit: int = PAGE_ROWS) -> Page:
    """Transactions from the version stamp `since` on (inclusive), at most `limit` rows of the feed."""
    # The statement takes literals only; both are integers here.
    rows: Sequence[dict[str, Any]] = await store.first(READ.format(since=max(0, int(since)), limit=int(limit)))
    found = []
    for row in rows:
        entries = [entry for change in row["changes"] for entry in change.get("update", {}).get("entries", ())]
        if entries:
            found.append(Stamped(row["versionstamp"], tuple(entries)))
    return Page(tuple(found), rows[-1]["versionstamp"] + 1 if len(rows) >= limit else None)


async def read_changes(store: Store, since: int) -> list[Stamped]:
    """All transactions from the version stamp `since` on (inclusive), oldest first."""
    found: list[Stamped] = []
    rest: int | None = since
    while rest is not None:
        page = await read_page(store, rest)
        found += page.transactions
        rest = page.rest
    return found


END = """
CREATE change CONTENT { at: <string>time::now(), entries: [] } RETURN NONE;
RETURN time::millis(time::now());
"""
SOME = "SHOW CHANGES FOR TABLE change SINCE {since} LIMIT 1;"


async def end_of_feed(store: Store) -> int:
    """A stamp from which on the feed holds everything that is committed from now on, and next to nothing before.

    An entry without changes is appended first and looked for. A database whose stamps are no times does not have it
    where its clock says; then the feed is walked to its end.
    """
    _, milliseconds = await store.query(END)
    since = int(milliseconds) * MILLISECOND - OVERLAP
    if await store.first(SOME.format(since=since)):
        return since
    rest: int | None = 0
    end = 0
    while rest is not None:
        end = rest
        rest = (await read_page(store, rest)).rest
    return end


PURGE = "DELETE change WHERE at < $before RETURN NONE;"


async def purge_changes(store: Store, now: Timestamp) -> None:
    """Removes entries past their keeping time."""
    await store.query(PURGE, before=add_seconds(now, -KEEP_SECONDS))


EPOCH = """{
    INSERT IGNORE INTO change_epoch { id: 'epoch', value: $candidate } RETURN NONE;
    RETURN change_epoch:epoch.value;
};"""


async def epoch(store: Store, candidate: str) -> str:
    """The mark of this palace's outbox, for ids that leave the process; `candidate` when it has none yet."""
    return str(await store.first(EPOCH, candidate=candidate))
