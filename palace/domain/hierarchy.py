"""Wings, rooms and what a deletion removed."""

from __future__ import annotations

from dataclasses import dataclass

from palace.domain.clock import Timestamp


@dataclass(frozen=True, slots=True)
class Wing:
    """A wing with the counts taken when it was read."""

    id: str
    palace: str
    name: str
    description: str | None
    created_at: Timestamp
    rooms: int = 0
    drawers: int = 0

    def as_json(self) -> dict[str, object]:
        return {
            "id": self.id,
            "palace": self.palace,
            "name": self.name,
            "description": self.description,
            "created_at": self.created_at,
            "rooms": self.rooms,
            "drawers": self.drawers,
        }


@dataclass(frozen=True, slots=True)
class Room:
    """A room with its wing's name and the count taken when it was read."""

    id: str
    wing: str
    name: str
    description: str | None
    created_at: Timestamp
    wing_name: str
    drawers: int = 0

    def as_json(self) -> dict[str, object]:
        return {
            "id": self.id,
            "wing": self.wing,
            "name": self.name,
            "description": self.description,
            "created_at": self.created_at,
            "wing_name": self.wing_name,
            "drawers": self.drawers,
        }


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many wings, rooms and drawers a deletion removed."""

    wings: int
    rooms: int
    drawers: int

    def as_json(self) -> dict[str, int]:
        return {"wings": self.wings, "rooms": self.rooms, "drawers": self.drawers}
