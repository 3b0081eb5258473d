"""What befalls the daemons, carried out."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator

from tests.chaos.castle import Castle, Lost, Node, ended_well
from tests.chaos.deeds import Freeze, Kill, KillAgain, KillAll, KillWhileStarting, KillWhileStopping, Stop, StopTwice, Strike
from tests.chaos.model import Model

AMID_SECONDS = 2.0
"""How long a blow waits for the work that it is to fall into."""


def strike(castle: Castle, model: Model, blow: Strike) -> Iterator[str]:
    """Carries a blow out; afterwards the daemons run again. Gives what was wrong."""
    node = castle.nodes[blow.daemon]
    if blow.amid == "request":
        model.asked.clear()
        model.asked.wait(AMID_SECONDS)
    elif blow.amid:
        _await_running(node, blow.amid)
    time.sleep(blow.pause)
    if not node.up:
        yield f"{node.home.name} ended by itself"
    match blow.blow:
        case Kill(down):
            node.kill()
            time.sleep(down)
        case KillAgain(times):
            for _ in range(times):
                node.kill()
                castle.start_all()
                _await_running(node)
        case Stop(down):
            yield from ended_well(node, node.stop(signal.SIGTERM))
            time.sleep(down)
        case StopTwice(gap, down):
            node.signal(signal.SIGTERM)
            time.sleep(gap)
            yield from ended_well(node, node.stop(signal.SIGTERM))
            time.sleep(down)
        case KillWhileStopping(gap, down):
            node.signal(signal.SIGTERM)
            time.sleep(gap)
            if (code := node.stop(signal.SIGKILL)) not in (0, -signal.SIGKILL):
                yield f"{node.home.name} ended with {code} after SIGTERM"
            time.sleep(down)
        case KillWhileStarting(after, down):
            node.kill()
            node.launch()
            time.sleep(after)
            if (code := node.stop(signal.SIGKILL)) != -signal.SIGKILL:
                yield f"{node.home.name} ended by itself with {code} while it started"
            time.sleep(down)
        case Freeze(seconds):
            _freeze(node, seconds)
            return
        case KillAll(down):
            castle.kill_all()
            time.sleep(down)
    castle.start_all()


def _await_running(node: Node, kind: str = "job") -> None:
    """Waits a moment for the daemon to run a job of that kind, or any `job`."""
    worker = f"memcastle-{node.pid}-"
    deadline = time.monotonic() + AMID_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(Lost):
            answer = node.ask("GET", "/api/jobs?status=running")
            running = answer.json if answer.status == 200 else []
            if any(job["lease_owner"].startswith(worker) and kind in ("job", job["kind"]["type"]) for job in running):
                return
        time.sleep(0.01)


def _freeze(node: Node, seconds: float) -> None:
    node.signal(signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        node.signal(signal.SIGCONT)
