"""A wait outlives short absences of the daemon, since jobs do."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from memcastle_site.console.client import DaemonClient, Endpoint
from memcastle_site.console.events import LONGEST_PAUSE_SECONDS, PATIENCE_SECONDS
from memcastle_site.console.jobs import watch
from memcastle_site.errors import ClientNotRunning, ClientRemoteRejected
from tests.console.support import JOB_ID, FakeDaemon, error_body, job

ROUTE = f"GET /api/jobs/{JOB_ID}"


def at(port: int) -> DaemonClient:
    return DaemonClient(Endpoint("127.0.0.1", port, "config"))


class Clock:
    """Time that passes only while something sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)


def statuses(connect: Callable[[], DaemonClient], clock: Clock) -> list[str]:
    return [state["status"] for state in watch(connect, job(), sleep=clock.sleep, clock=clock)]


def test_pauses_grow_up_to_a_limit(daemon: FakeDaemon) -> None:
    daemon.on(ROUTE, *[job("running")] * 20, job("completed"))
    clock = Clock()
    assert statuses(lambda: at(daemon.port), clock) == ["queued", *["running"] * 20, "completed"]
    assert clock.pauses[0] == pytest.approx(0.05)
    assert clock.pauses == sorted(clock.pauses)
    assert clock.pauses[-1] == LONGEST_PAUSE_SECONDS


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "paused"])
def test_a_settled_job_is_not_polled(daemon: FakeDaemon, status: str) -> None:
    seen = list(watch(lambda: at(daemon.port), job(status)))
    assert [state["status"] for state in seen] == [status]
    assert daemon.requests == []


def test_a_daemon_that_restarts_elsewhere_is_found_again(daemon: FakeDaemon) -> None:
    daemon.on(ROUTE, job("completed"))
    gone = FakeDaemon()
    gone.close()
    ports = itertools.chain([gone.port, gone.port], itertools.repeat(daemon.port))
    assert statuses(lambda: at(next(ports)), Clock()) == ["queued", "completed"]


def test_a_daemon_that_cannot_even_be_looked_for_is_waited_for(daemon: FakeDaemon) -> None:
    daemon.on(ROUTE, job("completed"))
    tries = itertools.count()

    def connect() -> DaemonClient:
        if next(tries) < 3:
            raise ClientNotRunning("no daemon serves this palace")
        return at(daemon.port)

    assert statuses(connect, Clock()) == ["queued", "completed"]


def test_a_daemon_that_is_shutting_down_is_waited_for(daemon: FakeDaemon) -> None:
    daemon.on(ROUTE, (503, error_body("memcastle::server::shutting_down", "stopping")), job("completed"))
    assert statuses(lambda: at(daemon.port), Clock()) == ["queued", "completed"]


def test_patience_ends(daemon: FakeDaemon) -> None:
    gone = FakeDaemon()
    gone.close()
    clock = Clock()
    with pytest.raises(ClientNotRunning):
        statuses(lambda: at(gone.port), clock)
    assert clock.now > PATIENCE_SECONDS


def test_a_job_that_is_gone_ends_the_wait_at_once(daemon: FakeDaemon) -> None:
    daemon.on(ROUTE, (404, error_body("memcastle::jobs::not_found", "no such job")))
    with pytest.raises(ClientRemoteRejected):
        statuses(lambda: at(daemon.port), Clock())
