"""Filing of mined documents: many drawers, and what the caller must see committed with them, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from palace.clock import now
from palace.domain.drawer import Closing, Drawer
from palace.domain.modes import Caller
from palace.modes import require_write
from palace.signals import drawers_written
from palace.store import Fragment, current
from palace.store.changes import Change, announce
from palace.store.drawers import close_drawers, insert_drawers
from palace.store.hierarchy import require_rooms


@dataclass(frozen=True, slots=True)
class Filing:
    """A prepared batch: what to write, and how many documents it changes."""

    fragments: tuple[Fragment, ...]
    documents: int

    @classmethod
    def prepare(cls, drawers: Sequence[Drawer], closings: Sequence[Closing], documents: int) -> Filing:
        """Works out all derived data of the drawers. Costs processor time, so workers call it, never the loop."""
        # A replacement takes over its predecessor's name, so endings come first.
        return cls(
            (
                *((close_drawers(closings),) if closings else ()),
                *((require_rooms({drawer.room for drawer in drawers}), insert_drawers(drawers)) if drawers else ()),
            ),
            documents,
        )


async def file_documents(caller: Caller, filing: Filing, along: Sequence[Fragment]) -> None:
    """Commits a batch of documents together with the caller's own fragments (rows, cursor, checkpoint).

    Raises RecordExists when a name or id was taken meanwhile, and TransactionRefused with the reason
    `drawer_closed` when a drawer to end was ended or deleted meanwhile, `room_gone` when a room to file into was,
    or with a reason of the caller's own fragments. Nothing is written then.
    """
    require_write(caller, "mine")
    # One notice a document, without an id because a document is many drawers.
    changes = [Change("drawer", "updated")] * filing.documents
    await current().transact(
        *filing.fragments,
        *along,
        *((announce(now(), *changes),) if changes else ()),
    )
    if filing.fragments:
        await drawers_written.asend(sender=None)
