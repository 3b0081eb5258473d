"""What the palace says to the apps above it. Lower apps never call higher ones; higher apps listen."""

from __future__ import annotations

from django.dispatch import Signal

deletion_requested = Signal()
"""Sent before a wing or room is deleted. Receivers return how many pending jobs of theirs write to the palace."""

drawers_written = Signal()
"""Sent after drawers were committed."""

changes_read = Signal()
"""Sent on the palace's loop with `changes`, transactions of the outbox (`palace.store.changes.Stamped`) as they are read:
in commit order, each once, whatever daemon made them. Receivers are coroutines: others would run in a thread."""
