"""The configuration of the process: its sections, its layers, its places on disk.

Layers, from low to high: defaults, the TOML file, the `MEMCASTLE_*` environment, the command-line flags.
docs/configuration.md lists every key.
"""

from __future__ import annotations

import ipaddress
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from jobs import conf as jobs_conf
from memcastle_site import conf_values as values
from mining import conf as mining_conf
from palace.configuration import (
    absolute_path,
    boolean,
    choice,
    integer,
    read_section,
    section_keys,
    setting,
    strings,
    text,
)
from palace.errors import ConfigInvalid, FileFailed

Section = TypeVar("Section")


@dataclass(frozen=True, slots=True)
class PalaceConfig:
    """Where the palace lies."""

    path: Path = setting(
        absolute_path,
        env="MEMCASTLE_PALACE_PATH",
        flag="--palace",
        shown_default="$XDG_DATA_HOME/memcastle/default",
        help="Directory of the palace, an absolute path. It is made when the daemon first starts.",
    )


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Where the daemon listens and whom it answers."""

    bind: str = setting(
        values.bind_address,
        "127.0.0.1",
        env="MEMCASTLE_BIND",
        help="IP address to listen on. Beyond loopback, turn on auth.enabled as well.",
    )
    port: int = setting(
        integer(0, 65_535),
        8420,
        env="MEMCASTLE_PORT",
        help="TCP port to listen on; 0 lets the system choose, and commands find the port in the registry file.",
    )
    allowed_hosts: tuple[str, ...] = setting(
        strings(values.host_name, accepted="a list of host names without scheme, port or path"),
        (),
        env="MEMCASTLE_SERVER_ALLOWED_HOSTS",
        help="Host names the daemon answers for beside IP addresses and localhost; others get 421.",
    )
    allowed_origins: tuple[str, ...] = setting(
        strings(values.web_origin, accepted="a list of origins such as https://memory.example, without a path"),
        (),
        env="MEMCASTLE_SERVER_ALLOWED_ORIGINS",
        help="Origins of web pages that may send requests beside the daemon's own pages; others get 403.",
    )


@dataclass(frozen=True, slots=True)
class DatabaseConfig:
    """Where the database endpoint listens once it is asked for; nothing here opens it."""

    bind: str = setting(
        values.bind_address,
        "127.0.0.1",
        env="MEMCASTLE_DB_BIND",
        help="IP address of the database endpoint. Beyond loopback it needs db.allow_remote and auth.enabled.",
    )
    port: int = setting(
        integer(0, 65_535),
        8000,
        env="MEMCASTLE_DB_PORT",
        help="TCP port of the database endpoint; 0 lets the system choose.",
    )
    allow_remote: bool = setting(
        boolean,
        False,
        env="MEMCASTLE_DB_ALLOW_REMOTE",
        help="Whether the database endpoint may listen where other machines reach it. There is no TLS.",
    )
    allowed_origins: tuple[str, ...] = setting(
        strings(accepted="a list of origins such as https://studio.example"),
        (),
        env="MEMCASTLE_DB_ALLOWED_ORIGINS",
        help="Origins of web pages that may use the database endpoint beside those of this machine; others get 403.",
    )

    def __post_init__(self) -> None:
        if not (self.allow_remote or ipaddress.ip_address(self.bind).is_loopback):
            raise ConfigInvalid(
                f"db.bind: {self.bind} can be reached from other machines",
                help="Choose 127.0.0.1, or set db.allow_remote = true and auth.enabled = true.",
            )


@dataclass(frozen=True, slots=True)
class AuthConfig:
    """Whether requests need the bearer token, and which token passes."""

    enabled: bool = setting(
        boolean,
        False,
        env="MEMCASTLE_AUTH_ENABLED",
        help="Every request needs a bearer token, except GET /api/health and static files. Read once at start.",
    )
    token: str | None = setting(
        values.token,
        None,
        env="MEMCASTLE_AUTH_TOKEN",
        secret=True,
        help="A token that always passes, at least 16 characters; commands send it. A generated token passes beside it.",
    )


REMOTE_KEYS = ("url", "namespace", "database", "username", "password")
"""What a remote palace needs to be told, and an embedded one ignores."""


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """How the database is opened."""

    mode: str = setting(
        choice("embedded", "remote"),
        "embedded",
        help="embedded: the daemon holds the database itself. remote: it is on a server, and daemons may share it.",
    )
    sync: str = setting(
        values.sync,
        "every",
        env="MEMCASTLE_STORE_SYNC",
        help="When writes reach the disk: after every transaction, never on purpose, or at an interval such as 500ms, 2s, 1m.",
    )
    url: str | None = setting(values.store_url, None, secret=True, help="Where the database server listens, ws:// or wss://.")
    namespace: str | None = setting(text, None, help="Namespace of the palace on the server; made when missing.")
    database: str | None = setting(text, None, help="Database of the palace in the namespace; made when missing.")
    username: str | None = setting(text, None, help="A root user of the server.")
    password: str | None = setting(text, None, secret=True, help="The user's password.")
    query_timeout_secs: int = setting(
        integer(1, 3600),
        30,
        help="Seconds that a query to the server may take. The changes of an upgrade have no limit.",
    )

    def __post_init__(self) -> None:
        if self.mode == "remote" and (missing := [key for key in REMOTE_KEYS if getattr(self, key) is None]):
            raise ConfigInvalid(
                f'store.{missing[0]}: it is missing, and store.mode = "remote" needs it',
                help=f"Add {', '.join(f'store.{key}' for key in missing)} to the configuration file; "
                "no environment variable sets them.",
            )


@dataclass(frozen=True, slots=True)
class WebConfig:
    """The dashboard."""

    enable: bool = setting(boolean, True, env="MEMCASTLE_WEB_ENABLE", help="Serve the dashboard under /ui.")


@dataclass(frozen=True, slots=True)
class LoggingConfig:
    """What is logged, on stderr, and in which form."""

    level: str = setting(
        values.level,
        "info",
        env="MEMCASTLE_LOG",
        help="off, error, warn, info, debug or trace, or directives such as memcastle=debug,warn. "
        "At info, components other than MemCastle speak from warn on.",
    )
    format: str = setting(
        choice("text", "json"),
        "text",
        env="MEMCASTLE_LOG_FORMAT",
        help="One line an event, as text or as a JSON object.",
    )


SECTIONS: tuple[tuple[str, type[Any]], ...] = (
    ("palace", PalaceConfig),
    (jobs_conf.PREFIX, jobs_conf.JobsConfig),
    ("server", ServerConfig),
    ("db", DatabaseConfig),
    ("auth", AuthConfig),
    (mining_conf.PREFIX, mining_conf.MiningConfig),
    ("store", StoreConfig),
    ("web", WebConfig),
    ("logging", LoggingConfig),
)
"""Every table of the file with its section, in the order in which they are validated."""

_RESERVED: Mapping[str, frozenset[str]] = {
    "": frozenset(
        {"assets", "credentials", "dedup", "embeddings", "extraction", "miners", "plugins", "preferences", "triggers"}
        | {"webhook"}
    ),
    "palace": frozenset({"preferences"}),
    "mining": frozenset(
        {"bundled_dir", "github_api_url", "registries", "source_memory_mib", "source_timeout_secs", "sources_dir"}
        | {"trust", "trusted_keys"}
    ),
}
"""By table ("" for the tables themselves): names of the file format that no part of this version reads."""


@dataclass(frozen=True, slots=True)
class Places:
    """The directories of MemCastle. `config` and `data` are None when no home directory is known."""

    config: Path | None
    data: Path | None
    state: Path


@dataclass(frozen=True, slots=True)
class Loaded:
    """The configuration in force and where it came from.

    `file` is where the file was looked for (None without a home directory), `unknown` names what no version knows,
    `unused` what belongs to a part of MemCastle that this version does not have; both are dotted names of the file.
    """

    sections: Mapping[type[Any], Any]
    file: Path | None
    file_exists: bool
    unknown: tuple[str, ...]
    unused: tuple[str, ...]
    places: Places

    def section(self, section: type[Section]) -> Section:
        """One section, by its class."""
        found: Section = self.sections[section]
        return found


@dataclass(frozen=True, slots=True)
class KeyDescription:
    """One key as documents show it."""

    key: str
    env: str | None
    default: str
    help: str


def load(flags: Mapping[str, object], environ: Mapping[str, str]) -> Loaded:
    """Merges the layers and validates the result. `flags` holds `config` (a path) and keys such as `server.port`.

    Raises FileFailed for a file that was named and cannot be read, ConfigInvalid for everything else.
    """
    places = locate(environ)
    file, named = _config_file(flags, environ, places)
    document = _read_file(file, named=named)
    content: Mapping[str, object] = document or {}
    sections: dict[type[Any], Any] = {}
    for prefix, section in SECTIONS:
        computed = {"path": places.data / "default"} if section is PalaceConfig and places.data else {}
        sections[section] = read_section(section, prefix, _table(content, prefix), environ, flags, computed)
    unknown, unused = _strangers(content)
    return Loaded(sections, file, document is not None, unknown, unused, places)


def locate(environ: Mapping[str, str]) -> Places:
    """The XDG directories; a variable that is unset, empty or relative is ignored."""

    home = Path(environ.get("HOME", ""))

    def base(variable: str, below_home: str) -> Path | None:
        given = Path(environ.get(variable, ""))
        if given.is_absolute():
            return given / "memcastle"
        return home / below_home / "memcastle" if home.is_absolute() else None

    state = base("XDG_STATE_HOME", ".local/state")
    return Places(
        config=base("XDG_CONFIG_HOME", ".config"),
        data=base("XDG_DATA_HOME", ".local/share"),
        state=state or Path(tempfile.gettempdir()) / "memcastle",
    )


def described_keys() -> Iterator[KeyDescription]:
    """Every key that is read, in order."""
    for prefix, section in SECTIONS:
        defaults = {declared.name: declared.default for declared in fields(section)}
        for name, declared in section_keys(section):
            default = defaults[name]
            shown = declared.shown_default or ("" if default in (None, MISSING) else _toml(default))
            yield KeyDescription(f"{prefix}.{name}", declared.env, shown, declared.help)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _config_file(flags: Mapping[str, object], environ: Mapping[str, str], places: Places) -> tuple[Path | None, bool]:
    """The file to read, and whether somebody named it."""
    named = flags.get("config")
    if named is None:
        named = environ.get("MEMCASTLE_CONFIG")
    if named is not None:
        return Path(str(named)), True
    return (places.config / "config.toml" if places.config else None), False


def _read_file(file: Path | None, *, named: bool) -> Mapping[str, object] | None:
    """The content of the file; None when it is not there and nobody named it."""
    if file is None:
        return None
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError) as error:
        if not named:
            return None
        raise FileFailed(f"the configuration file {str(file)!r} does not exist") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigInvalid(f"{file}: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigInvalid(f"{file}: it is not UTF-8 text") from error
    except (OSError, ValueError) as error:
        raise FileFailed(f"the configuration file {str(file)!r} cannot be read: {error}") from error


def _table(document: Mapping[str, object], prefix: str) -> Mapping[str, object]:
    table = document.get(prefix, {})
    if not isinstance(table, dict):
        raise ConfigInvalid(f"{prefix}: it must be a table, [{prefix}]")
    return table


def _strangers(document: Mapping[str, object]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the file holds and no section reads: unknown names, and names of parts that this version lacks."""
    known = {prefix: {name for name, _ in section_keys(section)} for prefix, section in SECTIONS}
    unknown: list[str] = []
    unused: list[str] = []
    for name, value in document.items():
        if name not in known:
            (unused if name in _RESERVED[""] else unknown).append(name)
            continue
        for key in value if isinstance(value, dict) else ():
            if key not in known[name]:
                (unused if key in _RESERVED.get(name, ()) else unknown).append(f"{name}.{key}")
    return tuple(unknown), tuple(unused)
