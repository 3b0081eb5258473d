"""`search`: finds drawers by what they say."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcastle_site.console.client import route
from memcastle_site.console.command import Call, ConsoleCommand
from memcastle_site.console.excerpt import excerpt
from memcastle_site.console.text import harmless_line, moment
from palace.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

RANKINGS = ("auto", "lexical", "semantic", "hybrid")
SOURCE_KINDS = ("file", "manual", "transcript", "note", "other")


class Command(ConsoleCommand):
    help = "Find drawers by what they say, best first."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("query", metavar="QUERY", nargs="+", help="the words to find; write -- before a leading dash")
        parser.add_argument("--limit", metavar="N", type=int, help="default 10, at most 200")
        parser.add_argument("--wing", metavar="NAME", help="only this wing")
        parser.add_argument("--room", metavar="NAME", help="only rooms of this name")
        parser.add_argument("--ranking", choices=RANKINGS, help="default auto")
        parser.add_argument("--tag", metavar="TAG", action="append", help="may be given several times; all must match")
        parser.add_argument("--source-kind", choices=SOURCE_KINDS)
        when = parser.add_argument_group("time", "WHEN is RFC 3339 or YYYY-MM-DD (midnight UTC); default: what holds now")
        when.add_argument("--as-of", metavar="WHEN", help="what held at that instant")
        when.add_argument("--from", metavar="WHEN", dest="start", help="what held at some time from here")
        when.add_argument("--until", metavar="WHEN", help="up to here, exclusive")
        when.add_argument("--include-historical", action="store_true", help="what ever held")
        when.add_argument("--learned-before", metavar="WHEN", help="only what the palace knew before that instant")
        parser.add_argument("--expand", action="store_true", help="append drawers related through the graph")

    def run(self, call: Call) -> None:
        args = call.args
        if args.limit is not None and args.limit < 0:
            raise InvalidInput("--limit", "it must not be negative")
        if any("," in tag for tag in args.tag or ()):
            raise InvalidInput("--tag", "it holds a comma; give --tag once for each tag")
        query = " ".join(args.query)
        hits = call.client.get(
            route("search"),
            {
                "q": query,
                "limit": args.limit,
                "wing": args.wing,
                "room": args.room,
                "ranking": args.ranking,
                "tags": ",".join(args.tag) if args.tag else None,
                "source_kind": args.source_kind,
                "as_of": args.as_of,
                "from": args.start,
                "until": args.until,
                "include_historical": args.include_historical,
                "learned_before": args.learned_before,
                "expand": args.expand,
            },
        )
        call.screen.show(hits, lambda console: render_hits(console, hits, query, call.screen.width))


def render_hits(console: Console, hits: Sequence[Mapping[str, Any]], query: str, width: int) -> None:
    """Each hit with rank, score and place, and the lines of its content that answer the query."""
    from rich.text import Text

    if not hits:
        console.print("nothing found")
    for rank, hit in enumerate(hits, 1):
        ended = f"  ended {moment(hit['valid_to'])}" if hit.get("valid_to") else ""
        place = harmless_line(f"{hit['wing_name']}/{hit['room_name']}/{hit['name'] or hit['id']}")
        aside = f"  {_part(hit)}{hit['score']:.3f}{ended}"
        console.print(Text.assemble((f"{rank:>2}. ", "dim"), (place, "bold"), (aside, "dim")), soft_wrap=True)
        for line in excerpt(hit["content"], query, max(width - 4, 20)):
            console.print(Text(f"    {line}"), soft_wrap=True)


def _part(hit: Mapping[str, Any]) -> str:
    """Which part of which document a drawer is that has no name to tell it."""
    origin = hit["source"].get("origin")
    if hit["name"] or origin is None:
        return ""
    return harmless_line(f"{origin['document']}, part {origin['chunk'] + 1}") + "  "
