"""What a mining run counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mining.domain.skips import SkipTally


@dataclass(slots=True)
class MiningStats:
    """Counters of one run; part of the job's checkpoint, so a resumed run goes on counting.

    `documents` were handled, whatever came of it; `filed` of them were read and chunked; `created`, `superseded` and
    `retired` count drawers; `unchanged` documents needed nothing, `unchanged_elsewhere` of them are filed in another
    wing than the one asked for; `skips` were left out.
    """

    documents: int = 0
    filed: int = 0
    created: int = 0
    superseded: int = 0
    retired: int = 0
    unchanged: int = 0
    unchanged_elsewhere: int = 0
    skips: SkipTally = field(default_factory=SkipTally)

    @property
    def counters(self) -> dict[str, int]:
        """The numbers alone, with the total of what was skipped."""
        counters = {name: value for name, value in asdict(self).items() if name != "skips"}
        return counters | {"skipped": self.skips.total}

    def to_json(self) -> dict[str, Any]:
        return self.counters | {"skips": self.skips.to_json()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> MiningStats:
        """The counters that `to_json` wrote; an empty mapping is a fresh start."""
        counters = {name: int(stored.get(name, 0)) for name in cls().counters if name != "skipped"}
        return cls(**counters, skips=SkipTally.from_json(stored.get("skips", {})))

    def copy(self) -> MiningStats:
        return MiningStats.from_json(self.to_json())
