"""Every rule of the chaos test notices what it is there for: a palace in order is put out of order by hand."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.chaos.deeds import Ask, ChangeTree, Checkpoint, Deed, DeleteText, Demo, Mine, Plan, Step, StoreText
from tests.chaos.files import Files
from tests.chaos.look import Row, Rows, Told
from tests.chaos.model import Model
from tests.chaos.rules import everything_wrong
from tests.chaos.run import Run

WRITER: tuple[Deed, ...] = (
    StoreText(1, 0, named=True),
    StoreText(3, 0, named=False),
    StoreText(2, 1, named=False),
    StoreText(4, 2, named=False),
    DeleteText(0.9),
)
KEEPER: tuple[Deed, ...] = (
    ChangeTree(0, seed=1, added=12, changed=0, removed=0),
    Mine(0, full=False, wing=None),
    Checkpoint(first=0, items=2, emergency=False),
    Demo(40),
    Ask("pause", 1.0, aimed=True),
    ChangeTree(0, seed=2, added=0, changed=6, removed=2),
)
PAUSE = 0.3
"""Seconds between deeds, so that a file changes after it was mined, and a demo is paused while it runs."""
Tamper = Callable[["Scene"], object]


@dataclass
class Scene:
    """What the rules look at."""

    model: Model
    files: Files
    rows: Rows
    told: Told

    def job(self, type: str) -> Row:
        return next(job for job in self.rows.jobs if job["kind"]["type"] == type)

    def log(self, job: Row) -> list[Row]:
        entries = [entry for entry in self.rows.log if entry["job"] == job["id"]]
        return sorted(entries, key=lambda entry: entry["number"])

    def text(self, number: int) -> Row:
        return next(drawer for drawer in self.rows.drawers if drawer["content"] == self.model.texts[number].content)

    def mined(self, replaced: bool = False) -> Row:
        """A drawer of a file that lies there now, a current one or one that was replaced."""
        mined = (drawer for drawer in self.rows.drawers if "origin" in drawer["source"])
        present = (drawer for drawer in mined if drawer["source"]["origin"]["document"] in self.files.now[0])
        return next(one for one in present if ("superseded_by" in one if replaced else one.get("valid_to") is None))

    def document(self) -> Row:
        """The document of a file that lies there now."""
        drawer = self.mined()["id"]
        return next(row for row in self.rows.documents if any(chunk["drawer"] == drawer for chunk in row["chunks"]))

    def item(self) -> Row:
        return next(drawer for drawer in self.rows.drawers if drawer["tags"] == ["chaos"])

    def submission(self, type: str) -> Any:
        return next(one for one in self.model.submissions.values() if one.body["type"] == type)

    def wrong(self) -> list[str]:
        return list(everything_wrong(self.model, self.files, self.rows, self.told))


@pytest.fixture(scope="module")
def order(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A palace after a round without blows."""
    run = Run(tmp_path_factory.mktemp("chaos"), seed=1)
    clients = tuple(tuple(Step(PAUSE, 0, deed) for deed in deeds) for deeds in (WRITER, KEEPER))
    seen = run.carry_out(Plan(1, 0, clients, ()))
    return Scene(run.model, run.files, seen.rows, seen.told)


@pytest.fixture
def scene(order: Scene) -> Scene:
    """The palace, to be put out of order."""
    # What the model knows is changed by looking, and its lock cannot be copied.
    model = Model()
    model.texts = copy.deepcopy(order.model.texts)
    model.submissions = copy.deepcopy(order.model.submissions)
    return Scene(model, copy.deepcopy(order.files), copy.deepcopy(order.rows), copy.deepcopy(order.told))


def test_order_is_called_order(scene: Scene) -> None:
    assert scene.wrong() == []


def put(row: Row, **fields: Any) -> None:
    """Changes a row; None takes the field away, as the database does."""
    for name, value in fields.items():
        if value is None:
            row.pop(name, None)
        else:
            row[name] = value


def again(rows: list[Row], row: Row, **fields: Any) -> None:
    """Adds a copy of a row."""
    rows.append(copy.deepcopy(row) | {"id": "00000000-0000-0000-0000-000000000001"} | fields)


def renumbered(scene: Scene, job: Row, log: list[Row]) -> None:
    """Makes this the job's log."""
    kept = [entry for entry in scene.rows.log if entry["job"] != job["id"]]
    scene.rows.log[:] = kept + [entry | {"number": number} for number, entry in enumerate(log, 1)]


def _completed_twice(scene: Scene) -> None:
    job = scene.job("mine")
    log = scene.log(job)
    renumbered(scene, job, [*log, *log[1:]])


def _put_back_after_a_request(scene: Scene) -> None:
    job = scene.job("demo")
    log = scene.log(job)
    for entry in log:
        if entry["event"] == "paused":
            entry.update(event="requeued", after="queued")
    renumbered(scene, job, log)


def _another_worker(scene: Scene) -> None:
    scene.log(scene.job("mine"))[-1]["worker"] = "memcastle-1-00000000"


def _more_crashes_than_allowed(scene: Scene) -> None:
    job = scene.job("mine")
    created, claimed, *rest = scene.log(job)
    back = claimed | {"event": "requeued", "before": "running", "after": "queued", "reason": "its daemon ended without it"}
    renumbered(scene, job, [created, *([claimed, back] * 3), claimed, *rest])
    put(job, attempt=4, recovery_attempts=3)


def _unseen_copy(scene: Scene) -> None:
    again(scene.rows.drawers, scene.mined())


def _document_of_ended_drawers(scene: Scene) -> None:
    ended = scene.mined(replaced=True)
    place = ended["source"]["origin"]["document"], ended["source"]["origin"]["chunk"]
    row = next(row for row in scene.rows.documents if row["external_id"] == place[0])
    next(chunk for chunk in row["chunks"] if chunk["index"] == place[1])["drawer"] = ended["id"]


def _unknown_text_of_a_gone_file(scene: Scene) -> None:
    paths = {row["external_id"] for row in scene.rows.documents} - scene.files.now[0].keys()
    scene.files.ever[0][paths.pop()].clear()


BREAKS: dict[str, tuple[Tamper, str]] = {
    "a job is lost": (lambda s: s.rows.jobs.remove(s.job("demo")), "was acknowledged and is lost"),
    "a job is doubled": (lambda s: again(s.rows.jobs, s.job("demo")), "became 2 jobs"),
    "a job of nobody": (lambda s: put(s.job("demo"), requested_by="nobody"), "nobody submitted the jobs"),
    "a refused job": (lambda s: put(s.submission("demo").__dict__, possible=False, id=None), "was refused and became"),
    "another job": (lambda s: put(s.job("demo")["kind"], steps=9), "has steps 9 instead of 40"),
    "a lease too many": (lambda s: put(s.job("mine"), lease_owner="memcastle-1-00000000"), "has the lease"),
    "a lease too few": (lambda s: put(s.job("mine"), status="running", completed_at=None), "has the lease None"),
    "a request too many": (lambda s: put(s.job("mine"), pause_requested=True), "is asked to stop"),
    "an end without a time": (lambda s: put(s.job("mine"), completed_at=None), "has ended at None"),
    "a start without a time": (lambda s: put(s.job("mine"), started_at=None), "started at None"),
    "an error of a completed job": (lambda s: put(s.job("mine"), error="oh"), "has the error oh"),
    "a shown lease too many": (lambda s: put(s.told.jobs[0], lease_expires_at="2030"), "until 2030"),
    "a stuck job": (lambda s: put(s.job("demo"), status="queued"), "is stuck"),
    "a log with a gap": (lambda s: s.rows.log.remove(s.log(s.job("mine"))[1]), "has gaps"),
    "a log without a beginning": (lambda s: renumbered(s, s.job("mine"), s.log(s.job("mine"))[1:]), "begin with its creation"),
    "a log of no job": (lambda s: again(s.rows.log, s.rows.log[0], job="none"), "there is a log of the job none"),
    "a second completion": (_completed_twice, "it was completed 2 times"),
    "a step that does not exist": (_completed_twice, "claimed leads from queued to running where the job was completed"),
    "a run ended by another worker": (_another_worker, "completed happened to memcastle-1-00000000 while"),
    "a request that was forgotten": (_put_back_after_a_request, "it was put back although {'pause_requested'} was stored"),
    "attempts": (lambda s: put(s.job("mine"), attempt=2), "claimed 1 times and counts 2"),
    "crashes": (lambda s: put(s.job("mine"), recovery_attempts=1), "crashed 0 times and counts 1"),
    "the crash budget": (_more_crashes_than_allowed, "put back after 3 crashes with a budget of 3"),
    "more crashes than attempts": (lambda s: put(s.job("mine"), recovery_attempts=5), "crashed 5 times in 1 attempts"),
    "an end that the log does not know": (lambda s: put(s.job("mine"), status="cancelled"), "and the job is cancelled"),
    "an unexplained failure": (lambda s: put(s.job("mine"), status="failed", error="who knows"), "failed: who knows"),
    "a pause without a trace": (
        lambda s: s.submission("mine").acknowledged.update(pause=1),
        "happened 0 times; 1 were acknowledged",
    ),
    "a pause that nobody asked for": (lambda s: s.submission("demo").acknowledged.clear(), "happened 1 times; 0 were"),
    "a cancelled job that waits": (
        lambda s: s.submission("demo").acknowledged.update(cancel=1),
        "is paused although its cancellation was acknowledged",
    ),
    "a job that is not listed": (lambda s: s.told.jobs.pop(), "jobs and"),
    "a job that is shown otherwise": (lambda s: put(s.told.jobs[0], attempt=7), "shows attempt 7"),
    "a list by status": (lambda s: put(s.told.by_status, completed=0), "the daemon lists 0 completed jobs"),
    "a count of jobs": (lambda s: put(s.told.status, jobs_paused=5), "the status counts 5 paused jobs"),
    "a log that is shown otherwise": (lambda s: next(iter(s.told.logs.values())).pop(), "is shown as"),
    "a lost text": (lambda s: s.rows.drawers.remove(s.text(1)), "was acknowledged and is lost"),
    "a doubled text": (lambda s: again(s.rows.drawers, s.text(3)), "stands in 2 drawers"),
    "a changed text": (lambda s: put(s.text(3), content="another"), "holds what nobody stored"),
    "a text that came back": (lambda s: put(s.model.texts[3].__dict__, present=False), "and was deleted or refused"),
    "a text elsewhere": (lambda s: put(s.text(3), id="00000000-0000-0000-0000-000000000001"), "is in the drawer 0000"),
    "a text without its name": (lambda s: put(s.text(1), name=None), "is named None"),
    "a lost item": (lambda s: s.rows.drawers.remove(s.item()), "of a completed checkpoint is lost"),
    "a doubled item": (lambda s: again(s.rows.drawers, s.item()), "stands in 2 drawers"),
    "an item without its tags": (lambda s: put(s.item(), tags=[]), "is tagged []"),
    "a file that is not filed": (lambda s: s.rows.documents.remove(s.document()), "is not filed"),
    "a file that is filed otherwise": (lambda s: put(s.mined(), content="another"), "is filed as"),
    "a gone file with another text": (_unknown_text_of_a_gone_file, "filed with a text it never had"),
    "a chunk too few": (lambda s: max((row["chunks"] for row in s.rows.documents), key=len).pop(0), "has the chunks"),
    "a chunk without a drawer": (lambda s: s.rows.drawers.remove(s.mined()), "which do not exist"),
    "a source that is not ours": (lambda s: s.rows.sources.clear(), "comes from no directory of ours"),
    "a mined drawer twice": (_unseen_copy, "stands in 2 current drawers"),
    "a mined drawer of no document": (_unseen_copy, "is current and no document names it"),
    "a document of ended drawers": (_document_of_ended_drawers, "has ended and is named as"),
    "a drawer named by two": (lambda s: s.rows.documents.append(s.rows.documents[0]), "two documents name one drawer"),
    "a drawer of another place": (lambda s: put(s.mined()["source"]["origin"], chunk=9), "is named as"),
    "a successor that knows nothing": (
        lambda s: put(next(drawer for drawer in s.rows.drawers if "supersedes" in drawer), supersedes=None),
        "is replaced by",
    ),
    "a predecessor that knows nothing": (
        lambda s: put(next(drawer for drawer in s.rows.drawers if "superseded_by" in drawer), superseded_by=None),
        "which does not know it",
    ),
    "a replaced drawer that is current": (
        lambda s: put(next(drawer for drawer in s.rows.drawers if "superseded_by" in drawer), valid_to=None),
        "is replaced and current",
    ),
    "a room in no wing": (lambda s: put(s.rows.rooms[0], wing="none"), "is in no wing"),
    "a drawer in no room": (lambda s: put(s.text(1), room="none"), "is in no room"),
    "a drawer of no job": (lambda s: put(s.mined()["provenance"], job_id="none"), "comes from the job none"),
    "a name twice": (lambda s: again(s.rows.drawers, s.text(1)), "2 drawers are called"),
    "a count of drawers": (lambda s: put(s.told.status, drawer_count=1), "the status counts 1 drawers"),
    "a count of a wing": (lambda s: put(s.told.wings[0], drawers=0), "the daemon lists the wings"),
    "a count of a room": (lambda s: put(s.told.rooms["notes"][0], drawers=0), "the daemon lists the rooms"),
    "a listing of drawers": (lambda s: next(iter(s.told.newest.values())).pop(), "are not those that are listed"),
    "an audit that finds strays": (
        lambda s: put(s.told.audit["result"], orphan_drawers=[{"drawer_id": "x", "room": "y"}]),
        "the audit found",
    ),
    "an audit that counts wrongly": (lambda s: put(s.told.audit["result"], total_drawers_in_scope=1), "counts 1 drawers"),
    "an audit that misses failures": (lambda s: put(s.told.audit["result"], stuck_failed_jobs=2), "counts 2 jobs"),
}


@pytest.mark.parametrize(("tamper", "complaint"), BREAKS.values(), ids=BREAKS)
def test_disorder_is_noticed(scene: Scene, tamper: Tamper, complaint: str) -> None:
    tamper(scene)
    assert any(complaint in problem for problem in scene.wrong()), scene.wrong()
