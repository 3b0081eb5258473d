"""The source `directory`: text files under a directory, one document each."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from mining.adapters.files import read_regular
from mining.adapters.project_file import declared_wing
from mining.adapters.walk import FoundFile, WalkRules, is_unicode, mtime_ns, walk
from mining.conf import MiningConfig
from mining.domain.contract import (
    Candidate,
    CanonicalDocument,
    Capabilities,
    Discovery,
    OptionSpec,
    RawDocument,
    Skip,
    SkipReason,
    SourceRef,
)
from mining.domain.dates import since
from mining.errors import SourceCursorInvalid
from palace.configuration import current
from palace.domain.clock import NANOSECONDS, canonical, nanoseconds
from palace.domain.names import acceptable_wing_name, problem_with_name
from palace.domain.texts import content_hash
from palace.errors import FileFailed, InvalidInput


class DirectoryAdapter:
    """Reads a tree as it is: no link is followed, no special file opened, and content is kept to the byte."""

    name = "directory"
    description = "Text files under a directory, one document per file"
    capabilities = Capabilities(incremental=True)
    options = (
        OptionSpec("since", "Only files modified at or after this date", "date", "since"),
        OptionSpec("ignore", "Whether .gitignore and .ignore files are honoured: on (default) or off"),
    )
    lists_everything = True
    default_room = "files"

    def identify(self, locator: str | None, options: Mapping[str, str]) -> SourceRef:
        """The directory with all symbolic links resolved. Raises InvalidInput and FileFailed."""
        return SourceRef(self.name, None, _canonical_directory(locator), self._normalised(options))

    def default_wing(self, ref: SourceRef) -> str:
        """The wing of the project that the directory belongs to, else one named after the directory."""
        return declared_wing(ref.locator) or acceptable_wing_name(os.path.basename(ref.locator))

    def discover(self, ref: SourceRef, cursor: object, limit: int) -> Discovery:
        """The files modified last come last. Raises SourceCursorInvalid and FileFailed."""
        after = _position(cursor)
        listing = walk(ref.locator, _walk_rules(ref.options))
        files = sorted(found for found in listing.files if after is None or found[:2] > after)
        return Discovery(
            candidates=tuple(_candidate(ref.locator, found) for found in files[:limit]),
            exhausted=len(files) <= limit,
            skips=tuple(sorted(listing.skips, key=lambda skip: skip.path)),
        )

    def read(self, ref: SourceRef, candidate: Candidate) -> RawDocument | Skip:
        """The file as it is now, which may differ from what was listed."""
        limit = current(MiningConfig).max_file_bytes
        try:
            content, state = read_regular(candidate.handle, limit)
        except OSError:
            return Skip(candidate.external_id, _why_unreadable(candidate.handle))
        body = _text(content, limit)
        if isinstance(body, SkipReason):
            return Skip(candidate.external_id, body)
        return RawDocument(
            external_id=candidate.external_id,
            revision=content_hash(body),
            body=body,
            metadata={"path": candidate.handle},
            occurred_at=canonical(mtime_ns(state)),
        )

    def normalize(self, raw: RawDocument) -> CanonicalDocument:
        """One segment, the whole text."""
        nameable = problem_with_name(raw.external_id, allow_slash=True) is None
        return CanonicalDocument(
            title=raw.external_id,
            room=None,
            name=raw.external_id if nameable else None,
            kind="file",
            uri=str(raw.metadata["path"]),
            tags=(),
            segments=(raw.body,),
        )

    def _normalised(self, options: Mapping[str, str]) -> dict[str, str]:
        accepted = [option.name for option in self.options]
        for key in options:
            if key not in accepted:
                raise InvalidInput("options", f"{key!r} is no option of {self.name}; it accepts {', '.join(accepted)}")
        normalised = dict(options)
        if "since" in normalised:
            try:
                normalised["since"] = since(normalised["since"])
            except ValueError as error:
                raise InvalidInput("since", str(error)) from None
        if normalised.get("ignore", "on") not in ("on", "off"):
            raise InvalidInput("ignore", f"{normalised['ignore']!r} is not accepted; write on or off")
        return normalised


def _canonical_directory(locator: str | None) -> str:
    if not locator:
        raise InvalidInput("path", "it is required; name the directory by its absolute path")
    if "\0" in locator or not is_unicode(locator):
        raise InvalidInput("path", "it is not a path that a file system could hold")
    if not locator.startswith("/"):
        raise InvalidInput("path", f"{locator!r} is not absolute")
    try:
        path = os.path.realpath(locator, strict=True)
        is_directory = stat.S_ISDIR(os.stat(path).st_mode)
    except OSError as error:
        raise FileFailed(f"{locator}: {error.strerror or error}") from error
    if not is_directory:
        raise InvalidInput("path", f"{locator!r} is not a directory")
    if not is_unicode(path):
        raise InvalidInput("path", "it leads to a directory whose name is not valid UTF-8")
    return path


def _walk_rules(options: Mapping[str, str]) -> WalkRules:
    return WalkRules(
        max_file_bytes=current(MiningConfig).max_file_bytes,
        ignore_files=options.get("ignore", "on") == "on",
        since=nanoseconds(options["since"]) // NANOSECONDS if "since" in options else 0,
    )


def _position(cursor: object) -> tuple[int, str] | None:
    if cursor is None:
        return None
    match cursor:
        case {"mtime_ns": int(mtime), "key": str(key), **rest} if not rest and mtime >= 0 and not isinstance(mtime, bool):
            return mtime, key
    raise SourceCursorInvalid("The directory's cursor is not an object of mtime_ns and key.")


def _candidate(root: str, found: FoundFile) -> Candidate:
    return Candidate(
        external_id=found.path,
        cursor_after={"mtime_ns": found.mtime_ns, "key": found.path},
        handle=os.path.join(root, found.path),
        stamp=found.stamp,
    )


def _why_unreadable(path: str) -> SkipReason:
    return SkipReason.SYMLINK if os.path.islink(path) else SkipReason.UNREADABLE


def _text(content: bytes, limit: int) -> str | SkipReason:
    if not content:
        return SkipReason.EMPTY
    if len(content) > limit:
        return SkipReason.TOO_LARGE
    if b"\0" in content:
        return SkipReason.BINARY
    try:
        return content.decode()
    except UnicodeDecodeError:
        return SkipReason.NOT_UTF8
