"""Rules of what the palace holds: texts, items of checkpoints, mined files, counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.chaos.files import Files
from tests.chaos.look import NEWEST, Row, Rows, Told
from tests.chaos.model import Item, Model


class Shelves:
    """The drawers of a palace by what one asks for."""

    def __init__(self, rows: Rows) -> None:
        wings = {wing["id"]: wing["name"] for wing in rows.wings}
        self.rooms = {room["id"]: (wings.get(room["wing"]), room["name"]) for room in rows.rooms}
        self.drawers = {drawer["id"]: drawer for drawer in rows.drawers}
        self._by_content: defaultdict[tuple[tuple[str | None, str], str], list[Row]] = defaultdict(list)
        for drawer in rows.drawers:
            if drawer["room"] in self.rooms:
                self._by_content[self.rooms[drawer["room"]], drawer["content"]].append(drawer)

    def holding(self, place: tuple[str, str], content: str) -> list[Row]:
        """The drawers of a room that hold a text, ended ones included."""
        return self._by_content[place, content]


def wrong_texts(model: Model, rows: Rows) -> Iterator[str]:
    """Texts written by hand that are lost, doubled or changed. Notes what became of those whose answer was lost."""
    shelves = Shelves(rows)
    for text in model.texts.values():
        found = shelves.holding((text.wing, text.room), text.content)
        if len(found) > 1:
            yield f"{text} stands in {len(found)} drawers: {[drawer['id'] for drawer in found]}"
        elif text.present and not found:
            yield f"{text} was acknowledged and is lost"
        elif text.present is False and found:
            yield f"{text} is in the drawer {found[0]['id']}, and was deleted or refused"
        elif found:
            if text.present and found[0]["id"] != text.id:
                yield f"{text} is in the drawer {found[0]['id']}"
            if found[0].get("name") != text.name or found[0].get("valid_to") is not None:
                yield f"{text} is named {found[0].get('name')} and valid to {found[0].get('valid_to')}"
            text.id = found[0]["id"]
        text.present = bool(found)


def wrong_strangers(model: Model, rows: Rows) -> Iterator[str]:
    """Drawers written by hand or by a checkpoint that hold what nobody gave."""
    shelves = Shelves(rows)
    given = {((text.wing, text.room), text.content) for text in model.texts.values()}
    given |= {(item.place, item.content) for submission in model.submissions.values() for item in submission.items}
    for drawer in rows.drawers:
        if "origin" not in drawer["source"] and (shelves.rooms.get(drawer["room"]), drawer["content"]) not in given:
            yield f"the drawer {drawer['id']} in {shelves.rooms.get(drawer['room'])} holds what nobody stored"


def wrong_items(model: Model, rows: Rows) -> Iterator[str]:
    """Items of checkpoints that are lost or doubled."""
    shelves = Shelves(rows)
    status = {job["id"]: job["status"] for job in rows.jobs}
    stored: dict[Item, list[str]] = {}
    for submission in model.submissions.values():
        for item in submission.items:
            stored.setdefault(item, []).append(status.get(submission.id or "", "unknown"))
    for item, jobs in stored.items():
        found = shelves.holding(item.place, item.content)
        if len(found) > 1:
            yield f"item {item.number} stands in {len(found)} drawers: {[drawer['id'] for drawer in found]}"
        if not found and "completed" in jobs:
            yield f"item {item.number} of a completed checkpoint is lost"
        for drawer in found:
            if drawer["tags"] != ["chaos"] or drawer["source"].get("agent") != "chaos":
                yield f"item {item.number} is tagged {drawer['tags']} and comes from {drawer['source']}"


def wrong_documents(files: Files, rows: Rows) -> Iterator[str]:
    """Mined directories that are filed otherwise than they lie there. To be asked after a complete mine of each."""
    drawers = {drawer["id"]: drawer for drawer in rows.drawers}
    places = {str(tree): number for number, tree in enumerate(files.trees)}
    trees = {source["id"]: places[source["locator"]] for source in rows.sources if source["locator"] in places}
    filed: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for row in rows.documents:
        name = f"the document {row['external_id']} of {row['source']}"
        chunks = sorted(row["chunks"], key=lambda chunk: chunk["index"])
        if [chunk["index"] for chunk in chunks] != list(range(len(chunks))):
            yield f"{name} has the chunks {[chunk['index'] for chunk in chunks]}"
        missing = [chunk["drawer"] for chunk in chunks if chunk["drawer"] not in drawers]
        if missing:
            yield f"{name} names the drawers {missing}, which do not exist"
        elif row["source"] not in trees:
            yield f"{name} comes from no directory of ours"
        else:
            filed[trees[row["source"]]][row["external_id"]] = "".join(drawers[chunk["drawer"]]["content"] for chunk in chunks)
    for tree, now in enumerate(files.now):
        yield from _wrong_tree(files, tree, now, filed[tree])


def _wrong_tree(files: Files, tree: int, now: dict[str, str], filed: dict[str, str]) -> Iterator[str]:
    for path in now.keys() - filed.keys():
        yield f"{path} of tree {tree} is not filed"
    for path, text in filed.items():
        if path in now:
            if text != now[path]:
                yield f"{path} of tree {tree} is filed as {_shown(text)}, and is {_shown(now[path])}"
        elif text not in files.ever[tree][path]:
            yield f"{path} of tree {tree} is gone, and filed with a text it never had: {_shown(text)}"


def _shown(text: str) -> str:
    return f"{text[:80]!r}… ({len(text)} characters)"


def wrong_mined_drawers(rows: Rows) -> Iterator[str]:
    """Current drawers of files that stand twice, or that no document names; documents that name ended ones."""
    named = {
        chunk["drawer"]: (row["source"], row["external_id"], chunk["index"], chunk["hash"])
        for row in rows.documents
        for chunk in row["chunks"]
    }
    if len(named) != sum(len(row["chunks"]) for row in rows.documents):
        yield "two documents name one drawer"
    places: Counter[tuple[str, str, int]] = Counter()
    for drawer in rows.drawers:
        origin = drawer["source"].get("origin")
        if origin is None:
            continue
        place = origin["source_id"], origin["document"], origin["chunk"]
        if drawer.get("valid_to") is None:
            places[place] += 1
            if drawer["id"] not in named:
                yield f"the drawer {drawer['id']} is current and no document names it: {place}"
        elif drawer["id"] in named:
            yield f"the drawer {drawer['id']} has ended and is named as {named[drawer['id']]}"
        if drawer["id"] in named and (*place, drawer["content_hash"]) != named[drawer["id"]]:
            yield f"the drawer {drawer['id']} of {place} is named as {named[drawer['id']]}"
    for place, number in places.items():
        if number > 1:
            yield f"{place} stands in {number} current drawers"


def wrong_succession(rows: Rows) -> Iterator[str]:
    """Drawers whose predecessors and successors do not point at each other."""
    drawers = {drawer["id"]: drawer for drawer in rows.drawers}
    for drawer in rows.drawers:
        before, after = drawer.get("supersedes"), drawer.get("superseded_by")
        if before is not None and drawers.get(before, {}).get("superseded_by") != drawer["id"]:
            yield f"the drawer {drawer['id']} replaces {before}, which does not know it"
        if after is not None and drawers.get(after, {}).get("supersedes") != drawer["id"]:
            yield f"the drawer {drawer['id']} is replaced by {after}, which does not know it"
        if after is not None and drawer.get("valid_to") is None:
            yield f"the drawer {drawer['id']} is replaced and current"


def wrong_references(rows: Rows) -> Iterator[str]:
    """Rows that hang in the air, and names that are taken twice."""
    wings, rooms, jobs = ({row["id"] for row in table} for table in (rows.wings, rows.rooms, rows.jobs))
    for room in rows.rooms:
        if room["wing"] not in wings:
            yield f"the room {room['name']} is in no wing"
    for drawer in rows.drawers:
        if drawer["room"] not in rooms:
            yield f"the drawer {drawer['id']} is in no room"
        job = drawer["provenance"].get("job_id")
        if job is not None and job not in jobs:
            yield f"the drawer {drawer['id']} comes from the job {job}, which does not exist"
    for what, names in (
        ("wing", Counter(wing["name"] for wing in rows.wings)),
        ("room", Counter((room["wing"], room["name"]) for room in rows.rooms)),
        ("drawer", Counter((drawer["room"], drawer["name"]) for drawer in rows.drawers if drawer.get("name") is not None)),
    ):
        yield from (f"{number} {what}s are called {name}" for name, number in names.items() if number > 1)


def wrong_counts(rows: Rows, told: Told) -> Iterator[str]:
    """Counts and listings that do not agree with the rows."""
    if told.status["drawer_count"] != len(rows.drawers):
        yield f"the status counts {told.status['drawer_count']} drawers and there are {len(rows.drawers)}"
    in_room = Counter(drawer["room"] for drawer in rows.drawers)
    rooms_of: defaultdict[str, list[Row]] = defaultdict(list)
    for room in rows.rooms:
        rooms_of[room["wing"]].append(room)
    wings = sorted((wing["name"], len(rooms_of[wing["id"]]), _drawers(rooms_of[wing["id"]], in_room)) for wing in rows.wings)
    if [(wing["name"], wing["rooms"], wing["drawers"]) for wing in told.wings] != wings:
        yield f"the daemon lists the wings {[(w['name'], w['rooms'], w['drawers']) for w in told.wings]} and there are {wings}"
    for wing in rows.wings:
        rooms = sorted((room["name"], in_room[room["id"]]) for room in rooms_of[wing["id"]])
        shown = [(room["name"], room["drawers"]) for room in told.rooms.get(wing["name"], [])]
        if shown != rooms:
            yield f"the daemon lists the rooms {shown} of {wing['name']} and there are {rooms}"
    for id, newest in told.newest.items():
        times = sorted((drawer["created_at"] for drawer in rows.drawers if drawer["room"] == id), reverse=True)
        if [drawer["created_at"] for drawer in newest] != times[:NEWEST]:
            yield f"the newest drawers of the room {id} are not those that are listed"


def _drawers(rooms: list[Row], in_room: Counter[str]) -> int:
    return sum(in_room[room["id"]] for room in rooms)


def wrong_audit(rows: Rows, told: Told) -> Iterator[str]:
    """What the audit at the end of the round found, or should have."""
    report = told.audit["result"]
    if report["orphan_drawers"] or report["dangling_provenance_drawers"]:
        yield f"the audit found {report['orphan_drawers']} and {report['dangling_provenance_drawers']}"
    if report["total_drawers_in_scope"] != len(rows.drawers):
        yield f"the audit counts {report['total_drawers_in_scope']} drawers and there are {len(rows.drawers)}"
    stuck = sum(job["status"] == "failed" and job["recovery_attempts"] >= job["max_attempts"] for job in rows.jobs)
    if report["stuck_failed_jobs"] != stuck:
        yield f"the audit counts {report['stuck_failed_jobs']} jobs that used up their budget and there are {stuck}"
