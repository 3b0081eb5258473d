"""What a client can do and what can befall a daemon, as data: a plan is made of these, and replays word for word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Control = Literal["pause", "resume", "cancel", "retry", "force-cancel"]
PLACES = (("notes", "inbox"), ("notes", "decisions"), ("journal", "days"))
"""Wing and room of the texts that are written by hand."""
TREES = 4


@dataclass(frozen=True, slots=True)
class StoreText:
    """Stores a text by hand. The same number is the same text."""

    text: int
    place: int
    named: bool


@dataclass(frozen=True, slots=True)
class RepeatText:
    """Stores a text once more that some client of this round has stored, or tried to. `pick` (0 to 1) says which."""

    pick: float


@dataclass(frozen=True, slots=True)
class DeleteText:
    """Deletes a text that this client has stored."""

    pick: float


@dataclass(frozen=True, slots=True)
class FindText:
    """Searches for a text that this client was told is stored; it must be found."""

    pick: float


@dataclass(frozen=True, slots=True)
class ChangeTree:
    """Adds, changes and removes files of a mined directory; `seed` decides which and what they hold."""

    tree: int
    seed: int
    added: int
    changed: int
    removed: int


@dataclass(frozen=True, slots=True)
class Mine:
    """Submits a mine job of a directory."""

    tree: int
    full: bool
    wing: str | None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Submits a checkpoint job with so many items; the same number is the same item."""

    first: int
    items: int
    emergency: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """Submits an audit."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Submits a repair, dry or applied, of everything or of what a completed audit of this round found."""

    dry: bool
    narrowed: bool


@dataclass(frozen=True, slots=True)
class Demo:
    """Submits a demo job."""

    steps: int


@dataclass(frozen=True, slots=True)
class Ask:
    """Sends a control request to a job of this round: an aimed one to a job in a state that allows it, if there is any."""

    control: Control
    pick: float
    aimed: bool


@dataclass(frozen=True, slots=True)
class AskPaused:
    """Resumes, or cancels, a job that an earlier round left paused."""

    control: Control
    pick: float


Deed = StoreText | RepeatText | DeleteText | FindText | ChangeTree | Mine | Checkpoint | Audit | Repair | Demo | Ask | AskPaused


@dataclass(frozen=True, slots=True)
class Kill:
    """kill -9, and a new start some seconds later."""

    down: float


@dataclass(frozen=True, slots=True)
class KillAgain:
    """kill -9 so many times, each amid the work that the start before took up: what runs all the time uses up its budget."""

    times: int


@dataclass(frozen=True, slots=True)
class Stop:
    """SIGTERM, a clean end, and a new start."""

    down: float


@dataclass(frozen=True, slots=True)
class StopTwice:
    """SIGTERM, and another one that many seconds later."""

    gap: float
    down: float


@dataclass(frozen=True, slots=True)
class KillWhileStopping:
    """SIGTERM, and kill -9 that many seconds later, while jobs are drained."""

    gap: float
    down: float


@dataclass(frozen=True, slots=True)
class KillWhileStarting:
    """kill -9, a new start that is killed after that many seconds, and another start."""

    after: float
    down: float


@dataclass(frozen=True, slots=True)
class Freeze:
    """SIGSTOP for longer than a lease, then SIGCONT."""

    seconds: float


@dataclass(frozen=True, slots=True)
class KillAll:
    """kill -9 of every daemon at once."""

    down: float


Blow = Kill | KillAgain | Stop | StopTwice | KillWhileStopping | KillWhileStarting | Freeze | KillAll


@dataclass(frozen=True, slots=True)
class Step:
    """A deed after a pause, sent to one of the daemons."""

    pause: float
    daemon: int
    deed: Deed


@dataclass(frozen=True, slots=True)
class Strike:
    """A blow to one of the daemons after a pause.

    With `amid` the pause begins when the daemon is seen running a job of that kind, or, for `job`, of any kind; for
    `request` when a client asks a job to stop: the request is stored then, and the job has not come to its boundary yet.
    """

    pause: float
    amid: str | None
    daemon: int
    blow: Blow


@dataclass(frozen=True, slots=True)
class Plan:
    """One round: what each client does, and meanwhile what befalls the daemons."""

    seed: int
    round: int
    clients: tuple[tuple[Step, ...], ...]
    strikes: tuple[Strike, ...]
