"""Lists the files of a directory tree."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import NamedTuple

from mining.adapters.ignore import IGNORE_FILES, IgnoreChain, load_rules, outer_chain
from mining.domain.contract import Skip, SkipReason
from palace.domain.clock import NANOSECONDS
from palace.errors import FileFailed

SKIPPED_DIRECTORIES = frozenset({"target", "node_modules", "venv", "dist", "build"})
"""Directories that are never entered, beside all whose name starts with a dot."""

_LATEST = 2**63 - 1


class FoundFile(NamedTuple):
    """A file to mine. Sorts by modification time, then path (relative to the root, with `/`)."""

    mtime_ns: int
    path: str
    stamp: str


@dataclass(frozen=True, slots=True)
class WalkRules:
    """What a walk takes in. `since` is in whole seconds since 1970."""

    max_file_bytes: int
    ignore_files: bool = True
    since: int = 0


@dataclass(slots=True)
class Listing:
    """What a walk found, in no order."""

    files: list[FoundFile] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    def skip(self, path: str, reason: SkipReason) -> None:
        self.skips.append(Skip(printable(path), reason))


def walk(root: str, rules: WalkRules) -> Listing:
    """All files below `root` that `rules` take in, and all that was left out.

    No symbolic link is followed. Raises FileFailed when the root cannot be listed, or is gone by the end of the walk;
    a directory below it that cannot be listed is left out.
    """
    listing = Listing()
    chain = IgnoreChain()
    if rules.ignore_files:
        chain, unreadable = outer_chain(root)
        for path in unreadable:
            listing.skip(path, SkipReason.UNREADABLE)
    pending = [("", chain)]
    while pending:
        below, chain = pending.pop()
        try:
            entries = _entries(os.path.join(root, below))
        except OSError as error:
            if not below:
                raise unlistable(root, error) from error
            listing.skip(below, SkipReason.UNREADABLE)
            continue
        pending.extend(_listed(root, below, entries, chain, rules, listing))
    try:
        os.stat(root)
    except OSError as error:
        raise unlistable(root, error) from error
    return listing


def unlistable(root: str, error: OSError) -> FileFailed:
    """The failure of a root that cannot be listed."""
    return FileFailed(f"{printable(root)} cannot be listed: {error.strerror or error}")


def mtime_ns(state: os.stat_result) -> int:
    """The modification time in nanoseconds; one outside of 1970 to 2262 counts as the nearer end."""
    return min(max(state.st_mtime_ns, 0), _LATEST)


def is_unicode(name: str) -> bool:
    """Whether a name given by the system was valid UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    """The path with what is not valid UTF-8 written as escapes."""
    return path if is_unicode(path) else os.fsencode(path).decode("utf-8", "backslashreplace")


def _entries(directory: str) -> list[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        return list(entries)


def _listed(
    root: str, below: str, entries: list[os.DirEntry[str]], chain: IgnoreChain, rules: WalkRules, listing: Listing
) -> list[tuple[str, IgnoreChain]]:
    """Judges the entries of one directory; gives the directories to enter, each with the ignore rules in force there."""
    unreadable: list[str] = []
    if rules.ignore_files:
        present = [entry.name for entry in entries if entry.name in IGNORE_FILES and entry.is_file(follow_symlinks=False)]
        if present:
            own, unreadable = load_rules(os.path.join(root, below), present)
            chain = chain if own is None else chain.entered(own, below)
    directories = []
    for entry in entries:
        path = below + entry.name
        try:
            if entry.name in unreadable:
                listing.skip(path, SkipReason.UNREADABLE)
            elif entry.is_symlink():
                listing.skip(path, SkipReason.SYMLINK)
            elif not entry.is_dir(follow_symlinks=False):
                _list_file(entry, path, chain, rules, listing)
            elif reason := _objection_to_directory(entry.name, path, chain):
                listing.skip(f"{path}/", reason)
            else:
                directories.append((f"{path}/", chain))
        except OSError:
            listing.skip(path, SkipReason.UNREADABLE)
    return directories


def _objection_to_directory(name: str, path: str, chain: IgnoreChain) -> SkipReason | None:
    if name in SKIPPED_DIRECTORIES or name.startswith(".") or chain.ignores(path, name, directory=True):
        return SkipReason.IGNORED
    return None if is_unicode(name) else SkipReason.NOT_UTF8


def _list_file(entry: os.DirEntry[str], path: str, chain: IgnoreChain, rules: WalkRules, listing: Listing) -> None:
    if chain.levels and chain.ignores(path, entry.name, directory=False):
        listing.skip(path, SkipReason.IGNORED)
        return
    state = entry.stat(follow_symlinks=False)
    if not is_unicode(entry.name):
        listing.skip(path, SkipReason.NOT_UTF8)
    elif not stat.S_ISREG(state.st_mode):
        listing.skip(path, SkipReason.UNREADABLE)
    elif mtime_ns(state) // NANOSECONDS < rules.since:
        return
    elif state.st_size == 0:
        listing.skip(path, SkipReason.EMPTY)
    elif state.st_size > rules.max_file_bytes:
        listing.skip(path, SkipReason.TOO_LARGE)
    else:
        stamp = f"{state.st_mtime_ns}:{state.st_size}:{state.st_ino}"
        listing.files.append(FoundFile(mtime_ns(state), path, stamp))
