"""Wings, rooms and drawers as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcastle_site.console.text import counted, harmless, harmless_line, moment, preview

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

Record = Mapping[str, Any]


def _table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in numbers else "left", overflow="fold", no_wrap=name in numbers)
    return table


def print_wings(console: Console, wings: Sequence[Record]) -> None:
    if not wings:
        console.print("no wings")
        return
    table = _table("wing", "rooms", "drawers", "description", numbers=("rooms", "drawers"))
    for wing in wings:
        about = harmless_line(wing["description"] or "")
        table.add_row(harmless_line(wing["name"]), f"{wing['rooms']:,}", f"{wing['drawers']:,}", about)
    console.print(table)


def print_rooms(console: Console, rooms: Sequence[Record]) -> None:
    if not rooms:
        console.print("no rooms")
        return
    table = _table("room", "drawers", "description", numbers=("drawers",))
    for room in rooms:
        title = harmless_line(f"{room['wing_name']}/{room['name']}")
        table.add_row(title, f"{room['drawers']:,}", harmless_line(room["description"] or ""))
    console.print(table)


def print_drawers(console: Console, drawers: Sequence[Record], width: int) -> None:
    """Two lines a drawer: its name or id with size and age, then as much of its beginning as the width allows."""
    from rich.text import Text

    if not drawers:
        console.print("no drawers")
    for drawer in drawers:
        facts = f"  {counted(drawer['chars'], 'character')}, {drawer['source']['kind']}, {moment(drawer['created_at'])}"
        title = harmless_line(drawer["name"] or drawer["id"])
        console.print(Text.assemble((title, "bold"), (facts, "dim")), soft_wrap=True)
        console.print(Text("  " + preview(drawer, max(width - 2, 20))), soft_wrap=True)


def print_facts(console: Console, kind: str, title: str, record: Record, counts: str) -> None:
    """A wing or a room, a line for each fact."""
    from rich.text import Text

    console.print(Text.assemble((f"{kind} ", "dim"), (harmless_line(title), "bold")), soft_wrap=True)
    facts = [("id", record["id"]), ("holds", counts), ("created", moment(record["created_at"]))]
    if record["description"]:
        facts.append(("about", harmless(record["description"])))
    for name, value in facts:
        console.print(Text.assemble((f"  {name:<9}", "dim"), value), soft_wrap=True)


def print_created(console: Console, kind: str, title: str, record: Record) -> None:
    from rich.text import Text

    verb = "created" if record["created"] else "already there:"
    console.print(Text(f"{verb} {kind} {harmless_line(title)} ({record['id']})"), soft_wrap=True)


def print_deleted(console: Console, deleted: Record) -> None:
    kinds = ("wing", "wings"), ("room", "rooms"), ("drawer", "drawers")
    parts = [counted(deleted[plural], singular) for singular, plural in kinds if deleted[plural]]
    console.print(f"deleted {', '.join(parts) or 'nothing'}")
