"""Declares and reads configuration sections.

Each app declares its keys as a frozen dataclass whose fields are made with `setting`; `memcastle_site.conf` merges
the layers (defaults, file, environment, flags) and installs the result here, where services find their section.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from palace.errors import ConfigInvalid

Parser = Callable[[object], Any]
Section = TypeVar("Section")

_INTEGER = re.compile(r"-?[0-9]{1,18}")


class FromText(str):
    """A value of the environment or of a flag, where numbers, booleans and lists are words.

    The file has types of its own, so parsers convert only text of this class.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of one key: how its values are read, where else it comes from, what it means.

    `flag` is its command-line spelling, `shown_default` how documents write a default that depends on the machine.
    """

    parse: Parser
    env: str | None
    help: str
    secret: bool = False
    flag: str | None = None
    shown_default: str | None = None


def setting(
    parse: Parser,
    default: Any = dataclasses.MISSING,
    *,
    env: str | None = None,
    help: str,
    secret: bool = False,
    flag: str | None = None,
    shown_default: str | None = None,
) -> Any:
    """A dataclass field that is one configuration key. `parse` raises ValueError naming the accepted values.

    A key without a default has one that only the reader of the configuration can know (see `read_section`).
    """
    declared = Setting(parse=parse, env=env, help=help, secret=secret, flag=flag, shown_default=shown_default)
    return field(default=default, repr=not secret, metadata={"setting": declared})


def integer(low: int, high: int | None = None) -> Parser:
    """Whole numbers from `low` to `high`."""
    accepted = f"a whole number from {low} to {high}" if high is not None else f"a whole number of at least {low}"

    def parse(value: object) -> int:
        if isinstance(value, FromText) and _INTEGER.fullmatch(value.strip()):
            value = int(value.strip())
        if not isinstance(value, int) or isinstance(value, bool) or value < low or (high is not None and value > high):
            raise ValueError(accepted)
        return value

    return parse


def boolean(value: object) -> bool:
    """`true` or `false`, nothing else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, FromText) and value in ("true", "false"):
        return value == "true"
    raise ValueError("true or false")


def choice(*options: str) -> Parser:
    """One of the given words; the file writes them exactly, the environment in any case and with white space around."""

    def parse(value: object) -> str:
        word = value.strip().lower() if isinstance(value, FromText) else value
        if isinstance(word, str) and word in options:
            return str(word)
        raise ValueError("one of " + ", ".join(options))

    return parse


def text(value: object) -> str:
    """A string that is not empty."""
    if isinstance(value, str) and value:
        return str(value)
    raise ValueError("a string that is not empty")


def strings(item: Callable[[str], str] = str, *, accepted: str = "a list of strings") -> Parser:
    """A list of strings as a tuple; the environment separates them by commas, trims them and drops empty ones.

    `item` brings one string into its stored form and raises ValueError for what is not `accepted`.
    """

    def parse(value: object) -> tuple[str, ...]:
        if isinstance(value, FromText):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if not isinstance(value, (list, tuple)) or not all(isinstance(part, str) for part in value):
            raise ValueError(accepted)
        try:
            return tuple(item(part) for part in value)
        except ValueError:
            raise ValueError(accepted) from None

    return parse


def absolute_path(value: object) -> Path:
    """An absolute path; `~` and variables are not expanded."""
    if isinstance(value, (str, Path)) and Path(value).is_absolute() and "\0" not in str(value):
        return Path(value)
    raise ValueError("an absolute path")


def section_keys(section: type[Any]) -> Iterator[tuple[str, Setting]]:
    """The keys of a section, in order of declaration."""
    for declared in dataclasses.fields(section):
        if "setting" in declared.metadata:
            yield declared.name, declared.metadata["setting"]


def read_section(
    section: type[Section],
    prefix: str,
    table: Mapping[str, object],
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    defaults: Mapping[str, object] | None = None,
) -> Section:
    """Builds a section from its file table, the environment and the flags (keyed `prefix.key`); later layers win.

    `defaults` gives, by name and already parsed, the defaults that depend on the machine.
    Raises ConfigInvalid naming the key, or the variable, and the accepted values. Secrets are never echoed.
    """
    values: dict[str, Any] = dict(defaults or {})
    for name, declared in section_keys(section):
        key = f"{prefix}.{name}"
        layers: list[tuple[str, object]] = []
        if name in table:
            layers.append((key, table[name]))
        if declared.env and declared.env in environ:
            layers.append((f"{declared.env} ({key})", FromText(environ[declared.env])))
        if (given := flags.get(key)) is not None:
            place = f"{declared.flag or '--' + name.replace('_', '-')} ({key})"
            layers.append((place, FromText(given) if isinstance(given, str) else given))
        for place, value in layers:
            values[name] = _parsed(declared, place, value)
        if name not in values and _has_no_default(section, name):
            raise ConfigInvalid(f"{key}: it has no value and no default on this machine")
    return section(**values)


def _parsed(declared: Setting, place: str, value: object) -> Any:
    try:
        return declared.parse(value)
    except ValueError as error:
        shown = "" if declared.secret else f" {value!r} is not accepted;"
        raise ConfigInvalid(f"{place}:{shown} it must be {error}") from None


def _has_no_default(section: type[Any], name: str) -> bool:
    return any(declared.name == name and declared.default is dataclasses.MISSING for declared in dataclasses.fields(section))


_installed: dict[type[Any], Any] = {}


def install(sections: Mapping[type[Any], Any]) -> None:
    """Makes these sections the configuration of the process."""
    _installed.clear()
    _installed.update(sections)


def current(section: type[Section]) -> Section:
    """The section in force; its defaults when nothing was installed."""
    return _installed.get(section) or section()


@contextmanager
def overridden(*sections: object) -> Iterator[None]:
    """Puts other sections in force for the length of a `with` block (tests)."""
    before = dict(_installed)
    _installed.update({type(section): section for section in sections})
    try:
        yield
    finally:
        _installed.clear()
        _installed.update(before)
