"""`doctor`: looks at configuration, directories, installation and daemon, and says what to do.

It creates nothing, opens no database, writes no file and prints no secret.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from memcastle_site.conf import REMOTE_KEYS, AuthConfig, Loaded, PalaceConfig, ServerConfig, StoreConfig
from memcastle_site.console.client import accepted, route
from memcastle_site.console.command import Call
from memcastle_site.console.discovery import find, locate
from memcastle_site.console.output import STATUS_STYLES
from memcastle_site.console.status import changes_text, datastore_healthy, problems, workers_text
from memcastle_site.console.text import harmless, harmless_line
from memcastle_site.errors import ClientNotRunning
from palace.errors import ConfigInvalid, FileFailed, MemCastleError

if TYPE_CHECKING:
    from rich.console import Console

CONFIGURATION, PATHS, PROVIDERS = "Configuration", "Paths", "Providers"
DAEMON, SOURCES = "Daemon and storage", "Sources and miners"
EXIT_ERRORS = 1
_REQUIRED_MODULES = ("surrealdb", "surrealdb_embedded", "ninja", "daphne", "channels", "huey", "pathspec", "Stemmer", "regex")


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check. `remediation` says what to do, when something can be done."""

    area: str
    check: str
    status: Literal["ok", "warning", "error", "skipped"]
    summary: str
    remediation: str | None = None

    def as_json(self) -> dict[str, str]:
        shape = {"area": self.area, "check": self.check, "status": self.status, "summary": self.summary}
        return shape | ({"remediation": self.remediation} if self.remediation else {})


def examine(call: Call) -> list[Finding]:
    """All findings, in the order in which they are shown."""
    try:
        loaded = call.loaded
    except (ConfigInvalid, FileFailed) as error:
        return [*_broken_configuration(error), _installation()]
    return [*_configuration(loaded), *_paths(loaded), _installation(), *_providers(), *_daemon(call), _sources()]


def exit_code(findings: list[Finding]) -> int:
    return EXIT_ERRORS if any(finding.status == "error" for finding in findings) else 0


def _broken_configuration(error: ConfigInvalid | FileFailed) -> Iterator[Finding]:
    check = "effective" if isinstance(error, ConfigInvalid) else "file"
    yield Finding(CONFIGURATION, check, "error", error.message, error.help)
    for area, skipped in ((PATHS, "palace.path"), (DAEMON, "daemon"), (DAEMON, "storage and migrations")):
        yield Finding(area, skipped, "skipped", "the configuration must be valid first")


def _configuration(loaded: Loaded) -> Iterator[Finding]:
    if loaded.file is None:
        yield Finding(CONFIGURATION, "file", "ok", "no home directory is known, so no file is read; defaults hold")
    elif not loaded.file_exists:
        yield Finding(CONFIGURATION, "file", "ok", f"{loaded.file} does not exist; defaults hold")
    else:
        yield Finding(CONFIGURATION, "file", "ok", f"read {loaded.file}")
    if loaded.unknown:
        keys = ", ".join(loaded.unknown)
        advice = "Correct or remove them; docs/configuration.md lists every key."
        yield Finding(CONFIGURATION, "unknown keys", "warning", f"nothing reads {keys}", advice)
    if loaded.unused:
        keys = ", ".join(loaded.unused)
        yield Finding(CONFIGURATION, "unused keys", "warning", f"{keys}: this version has no such part and ignores them")
    yield Finding(CONFIGURATION, "effective", "ok", "every value of all layers is accepted")
    server, auth = loaded.section(ServerConfig), loaded.section(AuthConfig)
    if not ipaddress.ip_address(server.bind).is_loopback and not auth.enabled:
        advice = "Set auth.enabled = true with a token, or listen on 127.0.0.1."
        yield Finding(CONFIGURATION, "exposure", "warning", f"server.bind = {server.bind} without authentication", advice)
    yield from _store(loaded.section(StoreConfig))


def _store(config: StoreConfig) -> Iterator[Finding]:
    if config.mode == "remote":
        from palace.store.remote import without_userinfo

        summary = f"the palace is on {without_userinfo(config.url or '')}; store.sync has no effect there"
        yield Finding(CONFIGURATION, "store", "ok", summary)
    elif unused := [f"store.{key}" for key in REMOTE_KEYS if getattr(config, key) is not None]:
        advice = 'Set store.mode = "remote" to use the server, or remove the keys.'
        yield Finding(
            CONFIGURATION, "store", "warning", f"the palace is embedded, and nothing reads {', '.join(unused)}", advice
        )


def _paths(loaded: Loaded) -> Iterator[Finding]:
    palace = loaded.section(PalaceConfig).path
    if palace.is_dir():
        yield Finding(PATHS, "palace.path", "ok", f"{palace} is a directory")
    elif palace.exists() or palace.is_symlink():
        advice = "Choose another palace.path, or move away what is there."
        yield Finding(PATHS, "palace.path", "error", f"{palace} exists and is no directory", advice)
    else:
        yield Finding(PATHS, "palace.path", "ok", f"{palace} does not exist yet; the daemon makes it")
    yield Finding(PATHS, "write access", "skipped", "not tried: this command writes nothing")


def _installation() -> Finding:
    missing = [name for name in _REQUIRED_MODULES if find_spec(name) is None]
    if missing:
        advice = "Run `make install`, or `pip install -r requirements.txt` in the environment of this Python."
        return Finding(PATHS, "embedded database", "error", f"Python packages are missing: {', '.join(missing)}", advice)
    return Finding(PATHS, "embedded database", "ok", "the engine and all other packages are installed; not opened here")


def _providers() -> Iterator[Finding]:
    for name in ("embeddings", "extraction"):
        yield Finding(PROVIDERS, name, "skipped", "this version uses no provider")


def _sources() -> Finding:
    return Finding(SOURCES, "runtime prerequisites", "ok", "the directory source needs nothing")


def _daemon(call: Call) -> Iterator[Finding]:
    endpoint = locate(call.loaded)
    try:
        answer = call.client.exchange("GET", route("status"))
        status = accepted(answer)
    except ClientNotRunning as error:
        stale = find(call.loaded).state == "stale"
        left = "; a registry file of an ended process was left behind, which is harmless" if stale else ""
        yield Finding(DAEMON, "daemon", "warning", f"{error.message}{left}", error.help)
        yield Finding(DAEMON, "storage and migrations", "skipped", "no daemon to ask")
        return
    except MemCastleError as error:
        yield Finding(DAEMON, "daemon", "error", error.message, error.help)
        yield Finding(DAEMON, "storage and migrations", "skipped", "the daemon gave no status")
        return
    yield Finding(DAEMON, "daemon", "ok", f"version {status['version']} answers at {endpoint.url}")
    datastore = status["datastore"]
    if datastore_healthy(status):
        migrations = f"{datastore['migration_version']}/{datastore['latest_version']}"
        yield Finding(DAEMON, "storage and migrations", "ok", f"{datastore['backend']} store answers, migrations {migrations}")
    elif not datastore["ok"]:
        advice = "See the daemon's log, then restart it with `python manage.py daemon restart`."
        yield Finding(DAEMON, "storage and migrations", "error", f"the store does not answer: {datastore['error']}", advice)
    else:
        pending = ", ".join(map(str, datastore["pending"]))
        advice = "Stop the daemon and run `python manage.py migrate`, or restart it, which runs them."
        yield Finding(DAEMON, "storage and migrations", "error", f"migrations are pending: {pending}", advice)
    yield from _work(status)


def _work(status: Mapping[str, Any]) -> Iterator[Finding]:
    """How jobs and changes are worked off; an older daemon does not tell."""
    health = status.get("health")
    if health is None:
        yield Finding(DAEMON, "workers and changes", "skipped", "this daemon does not tell; restart it to run this version")
        return
    found = problems(status)
    advice = "See the daemon's log, then restart it with `python manage.py daemon restart`."
    for problem in found:
        yield Finding(DAEMON, "workers and changes", "error", problem, advice)
    if not found:
        summary = f"workers: {workers_text(health['workers'])}"
        if health.get("changes"):
            summary += f"; changes: {changes_text(health['changes'])}"
        yield Finding(DAEMON, "workers and changes", "ok", summary)


def render_findings(console: Console, findings: list[Finding]) -> None:
    """The findings under the heading of their area, with the advice below."""
    from rich.text import Text

    area = None
    for finding in findings:
        if finding.area != area:
            area = finding.area
            console.print(Text(area, "bold"))
        status = (f"  {finding.status:<8}", STATUS_STYLES[finding.status])
        console.print(Text.assemble(status, f"{finding.check}: {harmless_line(finding.summary)}"), soft_wrap=True)
        if finding.remediation:
            console.print(Text("          " + harmless(finding.remediation), "dim"), soft_wrap=True)
