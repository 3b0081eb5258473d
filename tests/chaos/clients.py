"""The clients of a round: they carry deeds out and note what they are told."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from tests.chaos.castle import UNREACHABLE, Castle, Lost, Node
from tests.chaos.deeds import (
    Ask,
    AskPaused,
    Audit,
    ChangeTree,
    Checkpoint,
    Control,
    Deed,
    DeleteText,
    Demo,
    FindText,
    Mine,
    Plan,
    Repair,
    RepeatText,
    Step,
    StoreText,
)
from tests.chaos.files import Files
from tests.chaos.model import Item, Model, Submission, Text
from tests.chaos.plan import TEXTS_OF_ROUND
from tests.support import PATIENCE_SECONDS, Answer

Thing = TypeVar("Thing")

GOING = "memcastle::server::shutting_down"
"""The code that a daemon answers with while it stops; nothing was done then."""
INTERRUPTED = "memcastle::server::interrupted"
"""The code that it answers with when it stopped half way."""
UNREACHABLE_SECONDS = 0.3
"""How long a client waits after it was told that the palace cannot be reached."""
CONTROLLED = {
    "pause": "pause_requested",
    "resume": "resumed",
    "cancel": "cancel_requested",
    "retry": "retried",
    "force-cancel": "force_cancelled",
}
ALLOWED = {
    "pause": ("running",),
    "resume": ("paused",),
    "cancel": ("running",),
    "retry": ("failed",),
    "force-cancel": ("running",),
}
"""The states in which a job is asked that, when the request is aimed."""
NOT_NOW = {
    "memcastle::jobs::transition_invalid",
    "memcastle::jobs::orphaned",
    "memcastle::jobs::contended",
}
"""Codes of refused control requests that are to be expected."""


class Client:
    """One client with its own part of the plan, in a thread of its own."""

    def __init__(self, number: int, plan: Plan, castle: Castle, model: Model, files: Files, kinds: frozenset[str]) -> None:
        self._number = number
        self._plan = plan
        self._castle = castle
        self._model = model
        self._files = files
        self._kinds = kinds
        self._mine: list[Text] = []
        self._submitted = 0

    def run(self) -> None:
        """Carries the client's part of the plan out."""
        for step in self._plan.clients[self._number]:
            time.sleep(step.pause)
            self._carry_out(step)

    def _carry_out(self, step: Step) -> None:
        node = self._castle.nodes[step.daemon]
        match step.deed:
            case StoreText(number, place, named):
                text = Text(number, place, f"note-{number}" if named else None)
                with self._model.told():
                    self._model.texts[number] = text
                self._mine.append(text)
                self._store(node, text)
            case RepeatText(pick):
                if chosen := picked(self._repeatable(), pick):
                    self._store(node, chosen)
            case DeleteText(pick):
                if chosen := picked([text for text in self._mine if text.present and not text.shared], pick):
                    self._delete(node, chosen)
            case FindText(pick):
                if chosen := picked([text for text in self._mine if text.present], pick):
                    self._find(node, chosen)
            case ChangeTree():
                self._files.change(step.deed)
            case Ask(control, pick, aimed):
                if job := picked(self._targets(node, control if aimed else None), pick):
                    self._ask(node, job, control)
            case AskPaused(control, pick):
                if job := picked(self._left_paused(node), pick):
                    self._ask(node, job, control)
            case _:
                self._submit(node, step.deed)

    def _repeatable(self) -> list[Text]:
        """Texts of this round. Those of other clients only when nobody deletes them, or nobody would know the outcome."""
        with self._model.told():
            texts = [text for text in self._model.texts.values() if text.number // TEXTS_OF_ROUND == self._plan.round]
        return [text for text in texts if text.shared or text in self._mine]

    def _answer(self, node: Node, method: str, path: str, body: Any = None) -> Answer | None:
        """The answer, or None when it is not known whether the request was carried out."""
        try:
            answer = node.ask(method, path, body)
        except Lost as lost:
            self._model.unanswered += 1
            if isinstance(lost.__cause__, TimeoutError):
                self._model.blame(f"{method} {path} had no answer in {PATIENCE_SECONDS} s")
            return None
        if code_of(answer) == INTERRUPTED:
            return None
        if answer.status >= 500 and node.remote and code_of(answer).startswith(UNREACHABLE):
            # The database may have carried it out, and died before it said so.
            time.sleep(UNREACHABLE_SECONDS)
            return None
        return answer

    # Texts

    def _store(self, node: Node, text: Text) -> None:
        with self._model.told():
            # Two clients may store it at the same time, and hear of it in either order.
            stored = bool(text.present)
            text.present = text.present or None
        body = {"content": text.content, "name": text.name}
        path = f"/api/wings/{text.wing}/rooms/{text.room}/drawers"
        answer = self._answer(node, "POST", path, body)
        if answer is None or code_of(answer) == GOING:
            return
        with self._model.told():
            if answer.status not in (200, 201):
                self._model.blame(f"storing {text} was answered {answer.status} {answer.text}")
            elif text.present and answer.json["id"] != text.id:
                self._model.blame(f"storing {text} again gave the drawer {answer.json['id']} ({answer.status})")
            elif stored and answer.status == 201:
                self._model.blame(f"{text} was created twice")
            elif answer.json["content"] != text.content:
                self._model.blame(f"{text} was stored as {answer.json['content']!r}")
            else:
                text.present, text.id = True, answer.json["id"]

    def _delete(self, node: Node, text: Text) -> None:
        with self._model.told():
            text.present = None
        answer = self._answer(node, "DELETE", f"/api/wings/{text.wing}/rooms/{text.room}/drawers/{text.id}")
        with self._model.told():
            if answer is None:
                return
            if code_of(answer) == GOING:
                text.present = True
            elif answer.status == 200:
                text.present = False
            else:
                self._model.blame(f"deleting {text} was answered {answer.status} {answer.text}")

    def _find(self, node: Node, text: Text) -> None:
        answer = self._answer(node, "GET", f"/api/search?limit=5&q={quote(text.word)}")
        if answer is None or code_of(answer) == GOING:
            return
        if answer.status != 200:
            self._model.blame(f"searching for {text} was answered {answer.status} {answer.text}")
        elif text.present and text.id not in [hit["id"] for hit in answer.json]:
            self._model.blame(f"{text} was not found by its word {text.word}")

    # Jobs

    def _submit(self, node: Node, deed: Deed) -> None:
        body = self._body(deed)
        if body["type"] not in self._kinds:
            return
        items = tuple(Item(deed.first + more) for more in range(deed.items)) if isinstance(deed, Checkpoint) else ()
        if items:
            body["payload"] = {"items": [item.as_json() for item in items]}
        self._submitted += 1
        token = f"chaos-{self._plan.round}-{self._number}-{self._submitted}"
        submission = Submission(token, body, self._plan.round, items)
        with self._model.told():
            self._model.submissions[token] = submission
        answer = self._answer(node, "POST", "/api/jobs", body | {"requested_by": token})
        with self._model.told():
            if answer is None:
                return
            submission.possible = answer.status == 200
            if answer.status == 200:
                submission.id = answer.json["id"]
            elif code_of(answer) != GOING:
                self._model.blame(f"the submission {body} was answered {answer.status} {answer.text}")

    def _body(self, deed: Deed) -> dict[str, Any]:
        match deed:
            case Mine(tree, full, wing):
                path = str(self._files.trees[tree])
                return {"type": "mine", "path": path, "full": full} | ({"wing": wing} if wing else {})
            case Checkpoint(emergency=emergency):
                return {"type": "checkpoint", "emergency": emergency}
            case Audit():
                return {"type": "audit"}
            case Repair(dry, narrowed):
                return {"type": "repair", "dry_run": dry} | (self._narrowing() if narrowed else {})
            case Demo(steps):
                return {"type": "demo", "steps": steps}
        raise ValueError(f"{deed} submits nothing")

    def _narrowing(self) -> dict[str, str]:
        """A completed audit, as far as one is known."""
        audits = [one.id for one in self._model.submitted() if one.body["type"] == "audit" and one.completed]
        return {"based_on_job": str(audits[-1])} if audits else {}

    def _targets(self, node: Node, control: Control | None) -> list[Submission]:
        """The jobs of this round that are in a state to be asked that; all of them when there is none."""
        jobs = self._model.submitted(self._plan.round)
        answer = None if control is None else self._answer(node, "GET", "/api/jobs?limit=50")
        if control is None or answer is None or answer.status != 200:
            return jobs
        fit = {job["id"] for job in answer.json if job["status"] in ALLOWED[control]}
        if fit and control in ("pause", "cancel"):
            self._model.asked.set()
        return [job for job in jobs if job.id in fit] or jobs

    def _left_paused(self, node: Node) -> list[Submission]:
        answer = self._answer(node, "GET", "/api/jobs?status=paused")
        if answer is None or answer.status != 200:
            return []
        paused = {job["id"] for job in answer.json}
        return [one for one in self._model.submitted() if one.id in paused and one.round < self._plan.round]

    def _ask(self, node: Node, job: Submission, control: Control) -> None:
        answer = self._answer(node, "POST", f"/api/jobs/{job.id}/{control}")
        forced = control == "force-cancel"
        # In the log both are a cancellation. A forced one is stored before it is known whether it can be carried out.
        request = "cancel" if forced else control
        with self._model.told():
            if answer is None:
                job.lost[request] += 1
            elif answer.status == 200 and answer.json == {"status": CONTROLLED[control]}:
                job.acknowledged[request] += 1
            elif code_of(answer) != GOING and code_of(answer) not in NOT_NOW:
                self._model.blame(f"{control} of {job} was answered {answer.status} {answer.text}")
            elif forced:
                job.lost[request] += 1


def code_of(answer: Answer) -> str:
    """The code of a refusal; nothing for an answer that is none."""
    return str(answer.json.get("code", "")) if answer.status >= 400 else ""


def picked(things: Sequence[Thing], pick: float) -> Thing | None:
    """The one at that part (0 to 1) of the way."""
    return things[min(int(pick * len(things)), len(things) - 1)] if things else None
