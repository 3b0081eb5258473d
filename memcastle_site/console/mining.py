"""What `mine` understands and what it counts: the grammar of its words, and the totals over the jobs of one run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memcastle_site.console.client import DaemonClient, accepted, route
from memcastle_site.console.jobs import Job
from memcastle_site.console.text import counted, duration, harmless_line
from memcastle_site.errors import CommandUsage
from palace.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

DIRECTORY = "directory"
EXAMPLES_A_REASON = 3
_OPTION = re.compile(r"([a-z][a-z0-9_-]*)=(.*)", re.DOTALL)
_COUNTERS = ("documents", "filed", "created", "superseded", "retired", "unchanged", "unchanged_elsewhere", "skipped")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of the command, sorted: the first one, the place if there is one, the options."""

    first: str
    place: str | None
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Target:
    """What is mined: a source and its place (for `directory` an absolute path)."""

    source: str
    place: str | None

    def request(self, *, wing: str | None, full: bool, options: Mapping[str, str]) -> dict[str, Any]:
        """The body of the job submission."""
        where = {"path": self.place} if self.source == DIRECTORY else {"source": self.source, "locator": self.place}
        return {"type": "mine", **where, "wing": wing, "full": full, "options": dict(options), "requested_by": "cli"}


def sort_words(words: Sequence[str]) -> Words:
    """Sorts the words into one or two bare ones and options. Raises CommandUsage."""
    bare: list[str] = []
    options: dict[str, str] = {}
    for word in words:
        match = _OPTION.fullmatch(word)
        if match is None:
            bare.append(word)
        elif match[1] in options:
            raise CommandUsage(f"the option {match[1]} is given twice")
        else:
            options[match[1]] = match[2]
    if not bare or not all(bare):
        raise CommandUsage("nothing to mine is named: give a directory, or a source and its place")
    if len(bare) > 2:
        raise CommandUsage(f"too many words: {bare[2]!r} is neither a source, a place nor KEY=VALUE")
    return Words(bare[0], bare[1] if len(bare) == 2 else None, options)


def looks_like_directory(word: str) -> bool:
    """Whether a first word can only be a path: sources are named in lower case, without slash or leading dot or tilde."""
    return "/" in word or word[0] in ".~" or any(character.isupper() for character in word)


def find_target(words: Words, sources: Callable[[], Sequence[str]]) -> Target:
    """What the words name. `sources` is asked for the known sources only when the first word may be one.

    Raises CommandUsage, or InvalidInput when a bare word is neither a source nor a directory.
    """
    first, place = words.first, words.place
    if not looks_like_directory(first):
        known = sources() if first != DIRECTORY else [DIRECTORY]
        if first in known:
            if first == DIRECTORY and place is None:
                raise CommandUsage("the source directory needs a place: mine directory PATH")
            is_path = place is not None and (first == DIRECTORY or looks_like_directory(place))
            return Target(first, absolute(place) if place is not None and is_path else place)
        if not os.path.isdir(first):
            raise InvalidInput(
                "source",
                f"{first!r} is no source, and no directory of that name is here",
                help=f"Known sources: {', '.join(known)}. A directory elsewhere is written as a path, such as ./{first}.",
            )
    if place is not None:
        raise CommandUsage(f"{first!r} is a directory, so {place!r} is one word too many")
    return Target(DIRECTORY, absolute(first))


def absolute(path: str) -> str:
    """The absolute path, with `~`, `.`, `..` and links resolved as far as the path exists."""
    return os.path.realpath(os.path.expanduser(path))


def known_sources(client: DaemonClient) -> list[str]:
    """The sources of the daemon, or the built-in one when the daemon does not list them."""
    answer = client.exchange("GET", route("sources"))
    if answer.status == 404:
        return [DIRECTORY]
    return [str(adapter["name"]) for adapter in accepted(answer)["adapters"]]


@dataclass(slots=True)
class Totals:
    """The counts of all jobs of one run of the command."""

    counters: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTERS, 0))
    by_reason: dict[str, int] = field(default_factory=dict)
    examples: list[Mapping[str, str]] = field(default_factory=list)
    missing: int = 0
    missing_examples: list[str] = field(default_factory=list)

    def add(self, job: Job) -> None:
        """Adds a settled job: its result, or what its checkpoint had counted when it did not complete."""
        result = job.get("result")
        stats = result or (job.get("checkpoint") or {}).get("stats") or {}
        for name in _COUNTERS:
            self.counters[name] += int(stats.get(name) or 0)
        reasons = stats.get("skipped_by_reason") or (stats.get("skips") or {}).get("counts") or {}
        for reason, amount in reasons.items():
            self.by_reason[reason] = self.by_reason.get(reason, 0) + amount
        self.examples.extend(stats.get("skipped_examples") or [])
        if result:
            # Only a complete sweep knows what is missing, and the last job is the one that completes it.
            self.missing = int(result.get("missing") or 0)
            self.missing_examples = list(result.get("missing_examples") or [])

    def as_json(self) -> dict[str, Any]:
        return {**self.counters, "skipped_by_reason": self.by_reason, "missing": self.missing}


def goes_on(job: Job) -> bool:
    """Whether a completed job left something for a next one. One that handled nothing would be followed for ever."""
    result = job.get("result") or {}
    return bool(job["status"] == "completed" and result.get("truncated") and result.get("documents"))


def render_totals(console: Console, target: Target, totals: Totals, jobs: Sequence[Job], seconds: float) -> None:
    """The closing report: what was handled, what became of it, what was left out and why."""
    from rich.text import Text

    def line(name: str, value: str) -> None:
        console.print(Text.assemble((f"  {name:<11}", "dim"), value), soft_wrap=True)

    count = totals.counters
    where = harmless_line(target.place or target.source)
    in_jobs = f" in {counted(len(jobs), 'job')}" if len(jobs) > 1 else ""
    heading = "mined " if jobs[-1]["status"] == "completed" else f"{jobs[-1]['status']} while mining "
    console.print(Text.assemble((heading, "bold"), where, (in_jobs, "dim")), soft_wrap=True)
    rate = f", {count['documents'] / seconds:,.0f} a second" if seconds > 0 and count["documents"] else ""
    elapsed = f"{seconds:.1f}s" if seconds < 60 else duration(seconds)
    line("documents", f"{count['documents']:,}, {count['filed']:,} of them filed ({elapsed}{rate})")
    line("drawers", f"{count['created']:,} created, {count['superseded']:,} superseded, {count['retired']:,} retired")
    elsewhere = count["unchanged_elsewhere"]
    line("unchanged", f"{count['unchanged']:,}" + (f" ({elsewhere:,} of them filed in another wing)" if elsewhere else ""))
    line("skipped", f"{count['skipped']:,}")
    for reason, amount in totals.by_reason.items():
        console.print(Text(f"    {reason} {amount:,}{_examples(_paths(totals.examples, reason), amount)}"), soft_wrap=True)
    if totals.missing:
        line(
            "missing",
            f"{totals.missing:,} filed earlier, not there any more{_examples(totals.missing_examples, totals.missing)}",
        )


def _paths(examples: Iterable[Mapping[str, str]], reason: str) -> list[str]:
    return [example["path"] for example in examples if example.get("reason") == reason]


def _examples(paths: Sequence[str], amount: int) -> str:
    shown = [harmless_line(path) for path in paths[:EXAMPLES_A_REASON]]
    if not shown:
        return ""
    return f": {', '.join(shown)}{', …' if amount > len(shown) else ''}"
