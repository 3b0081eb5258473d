"""What the clients were told, and what they cannot know because an answer was lost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.deeds import PLACES
from tests.chaos.texts import text_of, word_of

DESTINATIONS = {
    "preference": ("preferences", "entries"),
    "project": ("projects", "entries"),
    "diary": ("diary", "diary"),
    "general": ("general", "entries"),
}
"""Where the items of checkpoints are filed."""


class Broken(AssertionError):
    """Something that must hold did not. One line for each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass
class Text:
    """A text that is written by hand, as far as its clients know."""

    number: int
    place: int
    name: str | None
    present: bool | None = False
    """None while it cannot be known: a request is under way, or its answer was lost."""
    id: str | None = None
    """The drawer that held it last, as acknowledged."""

    @property
    def wing(self) -> str:
        return PLACES[self.place][0]

    @property
    def room(self) -> str:
        return PLACES[self.place][1]

    @property
    def content(self) -> str:
        return text_of(self.number)

    @property
    def word(self) -> str:
        return word_of(self.number)

    @property
    def shared(self) -> bool:
        """Whether every client may store it; then none deletes it."""
        return self.number % 2 == 1

    def __str__(self) -> str:
        return f"text {self.number} ({self.wing}/{self.room}/{self.name or 'unnamed'}, drawer {self.id})"


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a checkpoint; its number decides all of it."""

    number: int

    @property
    def destination(self) -> str:
        return sorted(DESTINATIONS)[self.number % len(DESTINATIONS)]

    @property
    def place(self) -> tuple[str, str]:
        return DESTINATIONS[self.destination]

    @property
    def content(self) -> str:
        return text_of(self.number, "item")

    def as_json(self) -> dict[str, Any]:
        return {
            "destination": self.destination,
            "wing": None,
            "name": None,
            "content": self.content,
            "tags": ["chaos"],
            "source": {"kind": "manual", "uri": None, "agent": "chaos"},
        }


@dataclass
class Submission:
    """A job that a client submitted, or tried to."""

    token: str
    """Its `requested_by`, which no other submission has."""
    body: Mapping[str, Any]
    round: int
    items: tuple[Item, ...] = ()
    """What a checkpoint is to store."""
    id: str | None = None
    """None until an answer, or a look into the palace, names the job."""
    possible: bool = True
    """False when it was refused: then there must be no such job."""
    completed: bool = False
    """Whether it was found to be completed."""
    acknowledged: Counter[str] = field(default_factory=Counter)
    """Control requests that were carried out, by name."""
    lost: Counter[str] = field(default_factory=Counter)
    """Control requests whose answer was lost."""

    def __str__(self) -> str:
        return f"job {self.id} ({self.body['type']}, submitted as {self.token})"


class Model:
    """Everything that the clients of one run know. Clients are threads, so changes go through `told`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.texts: dict[int, Text] = {}
        self.submissions: dict[str, Submission] = {}
        self.asked = threading.Event()
        """Set whenever a client is about to ask a running job to stop; a blow that is to meet that clears it and waits."""
        self.unanswered = 0
        """Requests of the round whose answer was lost."""
        self.problems: list[str] = []
        """What clients saw that must not be."""

    @contextmanager
    def told(self) -> Iterator[None]:
        """Held while what is known changes."""
        with self._lock:
            yield

    def blame(self, problem: str) -> None:
        """Records that something must not be."""
        self.problems.append(problem)

    def submitted(self, round: int | None = None) -> list[Submission]:
        """The submissions whose job is known, of one round or of all, in order."""
        found = list(self.submissions.values())
        return [one for one in found if one.id is not None and (round is None or one.round == round)]
