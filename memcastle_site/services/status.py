"""State and configuration of the daemon, for people and scripts; nothing in them is secret."""

from __future__ import annotations

import asyncio
from typing import Any

from jobs import services as jobs
from jobs.conf import JobsConfig
from jobs.domain.job import Status
from jobs.runtime.health import Health, health
from memcastle_site import __version__
from memcastle_site.conf import AuthConfig, WebConfig
from memcastle_site.daemon import state
from mining.conf import MiningConfig
from palace.configuration import current as configured
from palace.domain.modes import MemoryMode
from palace.errors import StoreFailed
from palace.events import installed
from palace.store import Store, current
from palace.store.drawers import count_drawers
from palace.store.hierarchy import PALACE_NAME, palace_name
from palace.store.migrations import migration_status

DATASTORE_SECONDS = 5.0
"""How long the database is waited for before it counts as down."""
LATE_CHANGES_MS = 5000
"""How late events may be before the daemon counts as degraded."""


async def status(mode: MemoryMode) -> dict[str, Any]:
    """The daemon's status; a datastore that is down is reported in it, with all counts 0."""
    daemon = state.current()
    counts: dict[str, Any] = {
        "palace_name": PALACE_NAME,
        "drawer_count": 0,
        "jobs_queued": 0,
        "jobs_running": 0,
        "jobs_paused": 0,
    }
    datastore: dict[str, Any] = {
        "ok": False,
        "backend": "",
        "location": "",
        "error": None,
        "migration_version": 0,
        "latest_version": 0,
        "pending": [],
    }
    try:
        store = current()
        datastore |= {"backend": store.backend, "location": store.location}
        # A server that stands still must not keep those waiting who ask how it is.
        async with asyncio.timeout(DATASTORE_SECONDS):
            counts = await _counts(store)
            migrations = await migration_status(store)
        datastore |= {
            "ok": True,
            "migration_version": migrations.current_version,
            "latest_version": migrations.latest_version,
            "pending": list(migrations.pending),
        }
    except StoreFailed as error:
        datastore["error"] = error.message
    except TimeoutError:
        datastore["error"] = f"the database has not answered for {DATASTORE_SECONDS:g} s"
    return {
        "version": __version__,
        "uptime_secs": daemon.uptime_secs,
        **counts,
        "mode": mode.value,
        "pid": daemon.pid,
        "started_at": daemon.started_at,
        "bind_addr": daemon.bind_addr,
        "palace_path": str(daemon.palace_path),
        "datastore": datastore,
        "health": _health(await health(), datastore["error"]),
        "auth_enabled": configured(AuthConfig).enabled,
    }


def _health(queue: Health, store_error: str | None) -> dict[str, Any]:
    """Whether the daemon does its work, not only whether it answers."""
    problems = [] if store_error is None else [f"the datastore does not answer: {store_error}"]
    problems += queue.problems
    tailer = installed()
    changes = None if tailer is None else tailer.health()
    if changes is None or not changes.alive:
        problems.append("the change tailer stopped; events are late until it is started again")
    elif changes.lag_ms > LATE_CHANGES_MS:
        reason = "" if changes.error is None else f": {changes.error}"
        problems.append(f"events are {changes.lag_ms / 1000:.0f} s late{reason}")
    return {
        "ok": not problems,
        "problems": problems,
        "oldest_queued_secs": queue.oldest_queued_secs,
        "workers": queue.workers(),
        "changes": None if changes is None else changes.as_json(),
    }


async def _counts(store: Store) -> dict[str, Any]:
    by_status = await jobs.counts()
    return {
        "palace_name": await palace_name(store),
        "drawer_count": await count_drawers(store),
        "jobs_queued": by_status[Status.QUEUED],
        "jobs_running": by_status[Status.RUNNING],
        "jobs_paused": by_status[Status.PAUSED],
    }


def config_report() -> dict[str, Any]:
    """The configuration in force as far as it may be shown."""
    daemon = state.current()
    store = current()
    jobs_config = configured(JobsConfig)
    mining_config = configured(MiningConfig)
    return {
        "bind_addr": daemon.bind_addr,
        "palace_path": str(daemon.palace_path),
        "backend": store.backend,
        "location": store.location,
        "auth_enabled": configured(AuthConfig).enabled,
        "web": {"enabled": configured(WebConfig).enable},
        "jobs": {
            "max_concurrency": jobs_config.max_concurrency,
            "background_concurrency": jobs_config.background_limit,
            "drain_timeout_secs": jobs_config.drain_timeout_secs,
            "lease_ttl_secs": jobs_config.lease_ttl_secs,
        },
        "mining": {
            "chunk_chars": mining_config.chunk_chars,
            "max_file_bytes": mining_config.max_file_bytes,
            "max_documents": mining_config.max_documents,
        },
    }


def request_shutdown() -> None:
    """Asks the daemon to stop; safe to repeat."""
    state.current().request_shutdown()
