"""Counts what a run left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from mining.domain.contract import Skip, SkipReason

EXAMPLES = 20
"""Most examples kept for one reason, and most shown in all."""


@dataclass(slots=True)
class SkipTally:
    """How much was skipped for which reason, with examples. Part of a job's checkpoint (`to_json`, `from_json`)."""

    counts: dict[SkipReason, int] = field(default_factory=dict)
    paths: dict[SkipReason, list[str]] = field(default_factory=dict)

    def add(self, skip: Skip) -> None:
        self.counts[skip.reason] = self.counts.get(skip.reason, 0) + 1
        kept = self.paths.setdefault(skip.reason, [])
        if len(kept) < EXAMPLES:
            kept.append(skip.path)

    def add_all(self, skips: Iterable[Skip]) -> None:
        for skip in skips:
            self.add(skip)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def by_reason(self) -> dict[str, int]:
        """The counts that are not zero, in the fixed order of the reasons."""
        return {reason.value: self.counts[reason] for reason in SkipReason if reason in self.counts}

    def examples(self) -> list[Skip]:
        """At most EXAMPLES skips, taken in turn from each reason so that a rare reason is never crowded out."""
        columns = ([Skip(path, reason) for path in self.paths.get(reason, ())] for reason in SkipReason)
        in_turn = (skip for row in zip_longest(*columns) for skip in row if skip is not None)
        return [skip for skip, _ in zip(in_turn, range(EXAMPLES), strict=False)]

    def to_json(self) -> dict[str, dict[str, Any]]:
        return {
            "counts": self.by_reason(),
            "paths": {reason.value: list(self.paths[reason]) for reason in SkipReason if reason in self.paths},
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Mapping[str, Any]]) -> SkipTally:
        """The tally that `to_json` wrote; an empty mapping is an empty tally."""
        return cls(
            counts={SkipReason(reason): int(count) for reason, count in stored.get("counts", {}).items()},
            paths={SkipReason(reason): list(paths) for reason, paths in stored.get("paths", {}).items()},
        )
