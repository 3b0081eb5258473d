"""A run: one palace, its clients and daemons, round after round."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.blows import strike
from tests.chaos.castle import Castle, Lost
from tests.chaos.clients import Client
from tests.chaos.deeds import Plan
from tests.chaos.files import Files
from tests.chaos.look import Rows, Told, ask_everything, read_rows
from tests.chaos.model import Broken, Model, Submission
from tests.chaos.plan import plan_of
from tests.chaos.rules import everything_wrong
from tests.chaos.rules.jobs import ENDS, TAKEN_OVER, unfinished
from tests.chaos.watch import Observer, watching
from tests.support import Answer, until

QUIET_SECONDS = 180.0
"""How long the queue may take to become quiet. Far more than it needs, so what is not done then is stuck."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen at the end of a round."""

    rows: Rows
    told: Told


class Run:
    """Rounds on one palace below `directory`."""

    def __init__(self, directory: Path, seed: int, daemons: int = 1) -> None:
        self.directory = directory
        self._seed = seed
        self.castle = Castle(directory, daemons)
        self.model = Model()
        self.files = Files(directory / "trees")
        self._kinds: frozenset[str] = frozenset()

    def round(self, number: int) -> str:
        """One round as its number decides; gives what happened in it, in short. Raises as `carry_out` does."""
        began = time.monotonic()
        plan = plan_of(self._seed, number, len(self.castle.nodes))
        seen = self.carry_out(plan)
        return f"{time.monotonic() - began:5.1f} s, {self._summary(plan, seen.rows)}"

    def _summary(self, plan: Plan, rows: Rows) -> str:
        blows = ", ".join(type(strike.blow).__name__ for strike in plan.strikes)
        jobs = {one.id for one in self.model.submitted(plan.round)}
        happened = Counter(entry["event"] for entry in rows.log if entry["job"] in jobs)
        taken_over = sum(TAKEN_OVER in (entry.get("reason") or "") for entry in rows.log if entry["job"] in jobs)
        events = " ".join(f"{event} {number}" for event, number in sorted(happened.items()))
        return f"{blows}: {events}; {taken_over} taken over, {self.model.unanswered} unanswered, {len(rows.drawers)} drawers"

    def carry_out(self, plan: Plan) -> Seen:
        """One round; gives what was seen. Raises Broken with all that was wrong; the palace is left as it is then."""
        try:
            self.castle.start_all()
            self._kinds = self._kinds or known_kinds(self.castle)
            problems = self._disturbed(plan)
            self._refuse(problems)
            self._quiet()
            told = self._last_look(plan)
            self._refuse([*self.castle.stop_all(), *self.castle.complaints()])
            rows = read_rows(self.castle.home.palace)
        except (AssertionError, Lost, subprocess.TimeoutExpired) as error:
            raise error if isinstance(error, Broken) else Broken([str(error)]) from error
        finally:
            self.castle.kill_all()
        self._refuse(list(everything_wrong(self.model, self.files, rows, told)))
        return Seen(rows, told)

    def _refuse(self, problems: list[str]) -> None:
        found = [*problems, *self.model.problems]
        self.model.problems.clear()
        if found:
            raise Broken(found)

    def _disturbed(self, plan: Plan) -> list[str]:
        """The clients at work while the daemons are struck; gives what was wrong."""
        self.model.unanswered = 0
        problems: list[str] = []
        observer = Observer(self.castle, self.model)
        clients = [
            Client(number, plan, self.castle, self.model, self.files, self._kinds) for number in range(len(plan.clients))
        ]

        def strike_all() -> None:
            for blow in plan.strikes:
                problems.extend(strike(self.castle, self.model, blow))

        observer.start()
        together(problems, *(client.run for client in clients), strike_all)
        observer.end()
        return problems

    def _quiet(self) -> None:
        """Waits until no job is waiting or running."""
        deadline = time.monotonic() + QUIET_SECONDS
        while pending := [job for job in self.castle.home.get("/api/jobs") if job["status"] in ("queued", "running")]:
            if time.monotonic() > deadline:
                raise Broken(list(unfinished(pending)))
            time.sleep(0.1)

    def _last_look(self, plan: Plan) -> Told:
        """A complete mine of every directory and an audit, undisturbed; then what the daemon says of everything."""
        with watching(self.castle.nodes) as watchers:
            wishes = [{"type": "mine", "path": str(tree)} for tree in self.files.trees]
            done = [self._ended(job) for job in [self._submit(plan, *wish) for wish in enumerate(wishes)]]
            self._refuse([f"the last mine of {job['kind']['path']} failed: {job['error']}" for job in done if job["error"]])
            audit = self._ended(self._submit(plan, len(wishes), {"type": "audit"}))
            for watcher in watchers:
                expected = {(job["id"], job["status"]) for job in (*done, audit)}
                until(lambda: expected <= watcher.ended, f"the {watcher.name} to hear of {expected - watcher.ended}")  # noqa: B023
        submissions = [one.id for one in self.model.submitted(plan.round) if one.id is not None]
        return ask_everything(self.castle.home, submissions, audit)

    def _submit(self, plan: Plan, number: int, body: dict[str, Any]) -> str:
        submission = Submission(f"chaos-{plan.round}-last-{number}", body, plan.round)
        self.model.submissions[submission.token] = submission
        submission.id = str(self.castle.home.post("/api/jobs", body | {"requested_by": submission.token})["id"])
        return submission.id

    def _ended(self, job: str) -> dict[str, Any]:
        def over() -> dict[str, Any] | None:
            found: dict[str, Any] = self.castle.home.get(f"/api/jobs/{job}")
            return found if found["status"] in ENDS else None

        ended: dict[str, Any] = until(over, f"the job {job} to end", QUIET_SECONDS)
        return ended


def known_kinds(castle: Castle) -> frozenset[str]:
    """The kinds of job that this version has: a submission of none of them is told."""
    answer: Answer = castle.home.request("POST", "/api/jobs", {"type": "nothing"})
    _, _, known = answer.json["error"].partition("must be one of ")
    assert known, answer
    return frozenset(known.split(", "))


def together(problems: list[str], *works: Callable[[], None]) -> None:
    """Does these things side by side; what one of them raises becomes a problem."""

    def doing(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            problems.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=doing, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
