"""Validity in time: what holds at an instant, and the versions that replaced each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter

from palace.domain.clock import Timestamp
from palace.domain.drawer import Drawer


def holds_at(valid_from: Timestamp, valid_to: Timestamp | None, moment: Timestamp) -> bool:
    """Whether what is valid in `[valid_from, valid_to)`, or from then on, is valid at that instant."""
    return valid_from <= moment and not has_ended(valid_to, moment)


def has_ended(valid_to: Timestamp | None, moment: Timestamp) -> bool:
    """Whether validity is over at that instant; the instant of the end itself is no longer part of it."""
    return bool(valid_to and valid_to <= moment)


def overlap(valid_from: Timestamp, valid_to: Timestamp | None, other_from: Timestamp, other_to: Timestamp | None) -> bool:
    """Whether two half-open intervals have an instant in common; touching is not overlapping, an empty one never does."""
    start = max(valid_from, other_from)
    return not has_ended(valid_to, start) and not has_ended(other_to, start)


@dataclass(frozen=True, slots=True)
class Chain:
    """The versions of a drawer that are known so far, oldest first, each the successor of the one before it.

    A store reads it one link at a time: it looks up `older` and `newer` and gives what it finds to `extended`, until
    both are None or nothing is found. A chain therefore ends where a drawer was deleted, and it cannot run in circles.
    """

    versions: tuple[Drawer, ...]

    @property
    def older(self) -> str | None:
        """The id of the drawer before the first version."""
        return self._unknown(self.versions[0].supersedes)

    @property
    def newer(self) -> str | None:
        """The id of the drawer after the last version."""
        return self._unknown(self.versions[-1].superseded_by)

    def _unknown(self, id: str | None) -> str | None:
        return None if id is None or any(version.id == id for version in self.versions) else id

    def extended(self, drawers: Mapping[str, Drawer]) -> Chain:
        """The chain with every version that `drawers` (by id) can add at its ends."""
        seen = {version.id for version in self.versions}
        before = _followed(self.versions[0], attrgetter("supersedes"), drawers, seen)
        after = _followed(self.versions[-1], attrgetter("superseded_by"), drawers, seen)
        return Chain((*reversed(before), *self.versions, *after))


def _followed(
    drawer: Drawer, link: Callable[[Drawer], str | None], drawers: Mapping[str, Drawer], seen: set[str]
) -> list[Drawer]:
    """The drawers reached by one kind of link, in its order; none of those seen before, which then are seen too."""
    found = []
    while (id := link(drawer)) is not None and id not in seen and id in drawers:
        seen.add(id)
        drawer = drawers[id]
        found.append(drawer)
    return found


def versions(drawer: Drawer, drawers: Mapping[str, Drawer]) -> tuple[Drawer, ...]:
    """The versions of a drawer among `drawers` (by id), oldest first; a drawer that was never corrected is the only one."""
    return Chain((drawer,)).extended(drawers).versions
