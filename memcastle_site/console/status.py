"""`status`: what is known of the daemon, with or without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memcastle_site.console.client import route
from memcastle_site.console.command import Call
from memcastle_site.console.discovery import find, locate, palace_path
from memcastle_site.console.text import counted, duration, harmless_line, moment
from memcastle_site.daemon.registry import Found
from memcastle_site.errors import ClientNotRunning

if TYPE_CHECKING:
    from rich.console import Console

EXIT_DEGRADED = 1
EXIT_STOPPED = 3

Report = dict[str, Any]


def take_status(call: Call) -> Report:
    """The report; `daemon` is None when none runs. Other failures than that are raised."""
    endpoint = locate(call.loaded)
    try:
        daemon = call.client.get(route("status"))
    except ClientNotRunning:
        daemon = None
    return {
        "running": daemon is not None,
        "endpoint": endpoint.url,
        "endpoint_source": endpoint.source,
        "mcp_url": f"{endpoint.url}/mcp",
        "palace_path": str(palace_path(call.loaded)),
        "registry": _registry(find(call.loaded)),
        "daemon": daemon,
    }


def _registry(found: Found) -> dict[str, object]:
    daemon = found.registration
    return {
        "state": found.state,
        "pid": daemon.pid if daemon else None,
        "bind_addr": daemon.bind_addr if daemon else None,
    }


def healthy(daemon: Mapping[str, Any]) -> bool:
    """Whether the datastore is well, and so are the workers and the reader of changes."""
    return datastore_healthy(daemon) and not problems(daemon)


def datastore_healthy(daemon: Mapping[str, Any]) -> bool:
    """Whether the datastore answers and no migration is pending."""
    datastore = daemon["datastore"]
    return bool(datastore["ok"]) and not datastore["pending"]


def problems(daemon: Mapping[str, Any]) -> list[str]:
    """What the daemon finds wrong with its own work. An older one does not look."""
    health = daemon.get("health") or {"ok": True}
    if health["ok"]:
        return []
    return [str(problem) for problem in health.get("problems") or ["the daemon is not well and does not say why"]]


def exit_code(report: Report) -> int:
    if report["daemon"] is None:
        return EXIT_STOPPED
    return 0 if healthy(report["daemon"]) else EXIT_DEGRADED


def render_status(console: Console, report: Report) -> None:
    """A heading, then a line for each fact, then what can be done."""
    daemon = report["daemon"]
    if daemon is None:
        _heading(console, "not running", "yellow")
        _stopped(console, report)
        return
    if healthy(daemon):
        _heading(console, "running", "green")
    else:
        _heading(console, "running but degraded", "red")
    source = "registry file" if report["endpoint_source"] == "registry" else "configuration"
    uptime = duration(daemon["uptime_secs"])
    _line(console, "version", f"{daemon['version']} (pid {daemon['pid']}, up {uptime})")
    _line(console, "endpoint", f"{report['endpoint']} (from the {source})")
    _line(console, "mcp", report["mcp_url"])
    _line(console, "palace", f"{daemon['palace_path']} ({daemon['palace_name']})")
    _datastore(console, daemon["datastore"])
    _line(console, "drawers", f"{daemon['drawer_count']:,}")
    jobs = (f"{daemon[f'jobs_{state}']:,} {state}" for state in ("queued", "running", "paused"))
    _line(console, "jobs", ", ".join(jobs))
    if daemon.get("health"):
        _health(console, daemon["health"])
    _line(console, "mode", daemon["mode"])
    _line(console, "auth", "on" if daemon["auth_enabled"] else "off")
    for problem in problems(daemon):
        _line(console, "problem", problem, "red")
    _hint(console, "restart: python manage.py daemon restart    stop: python manage.py daemon stop")


def _stopped(console: Console, report: Report) -> None:
    registry = report["registry"]
    _line(console, "looked at", f"{report['endpoint']} (from the {report['endpoint_source']})")
    _line(console, "palace", report["palace_path"])
    if registry["state"] == "stale":
        _line(console, "registry", "left behind by a daemon that is gone")
    elif registry["state"] == "live":
        _line(console, "registry", f"names process {registry['pid']}, which lives but does not answer")
    _hint(console, "start: python manage.py daemon start")


def _datastore(console: Console, datastore: Mapping[str, Any]) -> None:
    if datastore["ok"]:
        migrations = f"migrations {datastore['migration_version']}/{datastore['latest_version']}"
        _line(console, "datastore", f"ok - {datastore['backend']} {datastore['location']}, {migrations}")
    else:
        _line(console, "datastore", f"UNAVAILABLE: {datastore['error']}", "red")
    if datastore["pending"]:
        pending = ", ".join(map(str, datastore["pending"]))
        _line(console, "pending", f"{pending} (run: python manage.py migrate)", "yellow")


def _health(console: Console, health: Mapping[str, Any]) -> None:
    """How the daemon works off jobs and changes."""
    if health.get("oldest_queued_secs") is not None:
        _line(console, "queue", f"the oldest job has waited for {duration(health['oldest_queued_secs'])}")
    _line(console, "workers", workers_text(health["workers"]))
    if health.get("changes"):
        _line(console, "changes", changes_text(health["changes"]))


def workers_text(workers: Mapping[str, Any]) -> str:
    """`4 of 4 alive, 1 busy, last heartbeat 2026-11-30 22:37:43 UTC`."""
    text = f"{workers['alive']} of {workers['configured']} alive, {workers['busy']} busy"
    if workers.get("restarts"):
        text += f", {counted(workers['restarts'], 'restart')}"
    if workers.get("last_heartbeat_at"):
        text += f", last heartbeat {moment(workers['last_heartbeat_at'])}"
    return text


def changes_text(changes: Mapping[str, Any]) -> str:
    """`read up to 12 ms ago`, and how many wait, when some do."""
    if not changes["alive"]:
        return "NOT READ: events and indexes stand still"
    text = "reader alive" if changes.get("lag_ms") is None else f"{changes['lag_ms']:,} ms behind"
    if changes.get("behind"):
        text += f", {counted(changes['behind'], 'transaction')} unread"
    if changes.get("restarts"):
        text += f", {counted(changes['restarts'], 'restart')}"
    return text


def _heading(console: Console, state: str, style: str) -> None:
    from rich.text import Text

    console.print(Text.assemble(("memcastle is ", "bold"), (state, f"bold {style}")))


def _line(console: Console, name: str, value: object, style: str = "") -> None:
    from rich.text import Text

    console.print(Text.assemble((f"  {name:<10}", "dim"), (harmless_line(str(value)), style)), soft_wrap=True)


def _hint(console: Console, text: str) -> None:
    from rich.text import Text

    console.print(Text(f"\n  {text}", "dim"), soft_wrap=True)
