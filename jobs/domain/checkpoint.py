"""What a checkpoint job files: texts that a client has sorted already, each with the place its destination names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from palace.domain.drawer import SOURCE_KINDS, Source
from palace.domain.ids import derived_id

DESTINATIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "preference": ("preferences", "entries"),
        "project": ("projects", "entries"),
        "diary": ("diary", "diary"),
        "general": ("general", "entries"),
    }
)
"""The wing, unless the item names another, and the room of each destination."""


@dataclass(frozen=True, slots=True)
class CheckpointItem:
    """One text with its destination. `source_kind` is as it was sent; one that is unknown is filed as `other`."""

    destination: str
    content: str
    tags: tuple[str, ...]
    source_kind: str
    source_uri: str | None = None
    source_agent: str | None = None
    wing: str | None = None
    name: str | None = None
    fact: Mapping[str, Any] | None = None
    """A change of the knowledge graph; this version has none."""

    @property
    def place(self) -> tuple[str, str]:
        """Names of the wing and the room that it goes into."""
        wing, room = DESTINATIONS[self.destination]
        return (wing if self.wing is None else self.wing), room

    @property
    def source(self) -> Source:
        kind = self.source_kind if self.source_kind in SOURCE_KINDS else "other"
        return Source(kind, self.source_uri, self.source_agent)

    def as_json(self) -> dict[str, Any]:
        """The item as the job keeps it."""
        return {
            "destination": self.destination,
            "wing": self.wing,
            "name": self.name,
            "content": self.content,
            "tags": list(self.tags),
            "source": {"kind": self.source_kind, "uri": self.source_uri, "agent": self.source_agent},
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> CheckpointItem:
        """The item that `as_json` wrote."""
        source = fields["source"]
        return cls(
            destination=fields["destination"],
            content=fields["content"],
            tags=tuple(fields["tags"]),
            source_kind=source["kind"],
            source_uri=source["uri"],
            source_agent=source["agent"],
            wing=fields["wing"],
            name=fields["name"],
        )


def drawer_id(job: str, index: int) -> str:
    """The id of the drawer of a job's item, the same in every run. Stored state, as `derived_id` is."""
    return derived_id(job, f"checkpoint-drawer:{index}")


def problem_with_items(items: Sequence[CheckpointItem]) -> str | None:
    """Why these items cannot be filed, naming the first one to blame, or None. Names are judged elsewhere."""
    if not items:
        return "items is empty; a checkpoint files at least one"
    for index, item in enumerate(items):
        if not item.content.strip():
            return f"items[{index}].content: it is blank; a drawer holds text"
        texts = {"content": item.content, "source.uri": item.source_uri or "", "source.agent": item.source_agent or ""}
        texts |= {f"tags[{place}]": tag for place, tag in enumerate(item.tags)}
        for field, text in texts.items():
            if "\0" in text:
                return f"items[{index}].{field}: it holds a NUL character, which is not text"
    return None
