"""`daemon start`, `stop` and `restart`: the daemon as a process in the background.

The registry file is the handshake: a started daemon is up when the file names the child's process. A stopped one is
down when its process has ended; its listener closes long before that, while jobs are still put back.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memcastle_site.conf import AuthConfig, Loaded
from memcastle_site.console.client import DaemonClient, Endpoint, route
from memcastle_site.console.command import Call
from memcastle_site.console.discovery import find, locate, palace_path, registry_file
from memcastle_site.daemon.registry import Registration, lives
from memcastle_site.errors import ClientAlreadyRunning, ClientNotRunning, ClientRequestFailed, ServerFailed
from palace.errors import FileFailed

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
POLL_SECONDS = 0.1
WAIT_SECONDS = 60.0
ATTEMPTS = 3
ATTEMPT_PAUSE_SECONDS = 1.0
SHOWN_LOG_LINES = 15


@dataclass(frozen=True, slots=True)
class Address:
    """The flags of the commands that start a daemon; None leaves the choice to the configuration."""

    bind: str | None
    port: str | None

    def flags(self) -> dict[str, object]:
        return {"server.bind": self.bind, "server.port": self.port}

    def words(self) -> list[str]:
        pairs = (("--bind", self.bind), ("--port", self.port))
        return [word for flag, value in pairs if value is not None for word in (flag, value)]


def start(call: Call, address: Address) -> str:
    """Starts a daemon in the background and returns the URL it serves on.

    Raises ClientAlreadyRunning when one answers, ServerFailed when it does not come up.
    """
    loaded = call.load(address.flags())
    endpoint = locate(loaded)
    if _answers(loaded, endpoint):
        raise ClientAlreadyRunning(
            f"a daemon answers at {endpoint.url}",
            help="Use it, stop it with `python manage.py daemon stop`, or start one for another palace on another --port.",
        )
    _await_end(find(loaded).registration)
    log = _fresh_log(loaded)
    words = _serve_words(call, loaded, address)
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(ATTEMPT_PAUSE_SECONDS)
        child = spawn(words, log, call.environ)
        bound = _await_serving(loaded, child, log)
        if bound is not None:
            return f"http://{bound}"
    raise ServerFailed(
        f"the daemon ended with exit code {child.returncode} before it served, {ATTEMPTS} times",
        help=f"The end of its log ({log}):\n{_tail(log)}",
    )


def stop(call: Call) -> dict[str, Any]:
    """Asks the daemon to stop and waits until it is gone. Returns its answer with `stopped`.

    Raises ClientNotRunning without a daemon, ServerFailed when it is not gone within WAIT_SECONDS.
    """
    before = find(call.loaded)
    try:
        answer: dict[str, Any] = call.client.post(route("shutdown"))
    except (ClientNotRunning, ClientRequestFailed):
        if before.state != "live":
            raise
        # The listener closes before the process ends: this daemon is stopping already.
        answer = {"status": "shutting_down"}
    if before.state == "live":
        _await_end(before.registration)
    else:
        endpoint = call.client.endpoint
        _await(lambda: not _answers(call.loaded, endpoint), f"the daemon at {endpoint.url} still answers")
    return {**answer, "stopped": True}


def restart(call: Call, address: Address) -> str:
    """Stops the daemon when one runs, then starts one; returns the URL it serves on."""
    if find(call.loaded).state == "live" or _answers(call.loaded, locate(call.loaded)):
        # Not running means here that the daemon at the address serves another palace, which starting reports.
        with contextlib.suppress(ClientNotRunning):
            stop(call)
    return start(call, address)


def spawn(words: list[str], log: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts a process of its own session that outlives this one; all it prints goes to the log."""
    with log.open("ab") as output:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=MANAGE.parent,
            env=dict(environ),
            start_new_session=True,
        )


def _serve_words(call: Call, loaded: Loaded, address: Address) -> list[str]:
    words = [sys.executable, str(MANAGE), "serve", "--palace", str(palace_path(loaded)), *address.words()]
    config = call.flags.config or call.environ.get("MEMCASTLE_CONFIG")
    # The child runs in another directory, so a relative path must not travel.
    return words if config is None else [*words, "--config", os.path.abspath(config)]


def _answers(loaded: Loaded, endpoint: Endpoint) -> bool:
    """Whether anything answers there; an answer that is no daemon's is ClientAlreadyRunning as well."""
    if endpoint.port == 0:
        return False
    client = DaemonClient(endpoint, token=loaded.section(AuthConfig).token)
    try:
        client.exchange("GET", route("health"))
    except ClientNotRunning:
        return False
    except ClientRequestFailed as error:
        raise ClientAlreadyRunning(
            f"something listens at {endpoint.url} but does not answer as a daemon should",
            help="Stop that program, or choose another --port. A daemon that hangs can be ended by its process id: "
            "`python manage.py status` shows it.",
        ) from error
    return True


def _await_serving(loaded: Loaded, child: subprocess.Popen[bytes], log: Path) -> str | None:
    """The address that the child is bound to, or None when it ended first. Raises ServerFailed after WAIT_SECONDS."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        daemon = find(loaded).registration
        if daemon is not None and daemon.pid == child.pid and lives(daemon):
            return daemon.bind_addr
        if child.poll() is not None:
            return None
        time.sleep(POLL_SECONDS)
    raise ServerFailed(
        f"the daemon (process {child.pid}) did not serve within {WAIT_SECONDS:g} seconds",
        help=f"It may still be starting; see its log ({log}), or run `python manage.py serve` in the foreground:\n{_tail(log)}",
    )


def _await_end(daemon: Registration | None) -> None:
    """Returns when the process of a registered daemon has ended; it removes its file before."""
    if daemon is not None:
        _await(lambda: not lives(daemon), f"the daemon (process {daemon.pid}) is still stopping")


def _await(condition: Callable[[], bool], problem: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise ServerFailed(
                f"{problem} after {WAIT_SECONDS:g} seconds",
                help="Running jobs are being put back; jobs.drain_timeout_secs bounds that. See the daemon's log.",
            )
        time.sleep(POLL_SECONDS)


def _fresh_log(loaded: Loaded) -> Path:
    """An empty log file beside the registry file; the one before is kept as `daemon.log.1`. Raises FileFailed."""
    log = registry_file(loaded).with_name("daemon.log")
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        log.touch(mode=0o600)
    except OSError as error:
        raise FileFailed(f"the daemon's log {log} cannot be written: {error.strerror or error}") from error
    return log


def _tail(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return f"(unreadable: {error.strerror or error})"
    return "\n".join(lines[-SHOWN_LOG_LINES:]) or "(empty)"
