"""A wait follows the event stream: it asks when there is news, and misses no end of a job."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from memcastle_site.console import events
from memcastle_site.console.client import DaemonClient, Endpoint
from memcastle_site.console.events import Event, Follower, News
from memcastle_site.console.jobs import watch
from memcastle_site.console.sse import Frame
from memcastle_site.errors import ClientRequestFailed
from tests.console.support import JOB_ID, FakeDaemon, LiveStream, Request, error_body, job
from tests.console.test_waiting_for_jobs import Clock
from tests.support import until

EVENTS = "GET /api/events"
ROUTE = f"GET /api/jobs/{JOB_ID}"
OPEN = 'event: open\ndata: {"kind":"open","action":"open"}\n\n'
COMMENT = ": still here\n\n"


def frame(stamp: str, identity: str = JOB_ID, status: str = "running") -> str:
    data = {"kind": "job", "action": "updated", "id": identity, "job_kind": "demo", "status": status}
    return f"id: {stamp}\nevent: job\ndata: {json.dumps(data)}\n\n"


def waiting(daemon: FakeDaemon) -> Iterator[dict[str, Any]]:
    client = DaemonClient(Endpoint("127.0.0.1", daemon.port, "config"))
    return watch(lambda: client, job())


def next_status(states: Iterator[dict[str, Any]]) -> str:
    return str(next(states)["status"])


def test_a_job_that_ends_before_the_stream_opens_is_not_missed(daemon: FakeDaemon) -> None:
    daemon.on(EVENTS, daemon.streaming(OPEN))
    daemon.on(ROUTE, job("completed"))
    assert [state["status"] for state in waiting(daemon)] == ["queued", "completed"]
    assert daemon.asked() == [EVENTS, ROUTE]


def test_the_job_is_read_when_there_is_news_of_it_and_only_then(daemon: FakeDaemon) -> None:
    stream = daemon.streaming(OPEN)
    daemon.on(EVENTS, stream)
    daemon.on(ROUTE, job("running"), job("running", progress={"current": 1}), job("completed"))
    states = waiting(daemon)
    assert [next_status(states), next_status(states)] == ["queued", "running"]
    stream.send(frame("5-0", "another job"))
    stream.send("event: drawer\ndata: {}\n\nevent: tomorrow\ndata: not json\n\n")
    stream.send(frame("6-0"))
    assert next(states)["progress"] == {"current": 1}
    stream.send(frame("7-0", status="completed"))
    assert next_status(states) == "completed"
    assert next(states, None) is None
    assert daemon.asked() == [EVENTS, ROUTE, ROUTE, ROUTE]


def test_news_that_came_together_is_read_once(daemon: FakeDaemon) -> None:
    daemon.on(EVENTS, daemon.streaming(OPEN + frame("1-0") + frame("2-0") + frame("3-0")))
    daemon.on(ROUTE, job("completed"))
    assert [state["status"] for state in waiting(daemon)] == ["queued", "completed"]
    assert daemon.asked() == [EVENTS, ROUTE]


@pytest.mark.parametrize("sign", ["event: resync\ndata: {}\n\n", COMMENT], ids=["resync", "comment"])
def test_what_an_event_failed_to_tell_is_read_at_the_next_sign(daemon: FakeDaemon, sign: str) -> None:
    stream = daemon.streaming(OPEN)
    daemon.on(EVENTS, stream)
    daemon.on(ROUTE, job("running"), job("completed"))
    states = waiting(daemon)
    assert [next_status(states), next_status(states)] == ["queued", "running"]
    stream.send(sign)
    assert next_status(states) == "completed"


def test_a_stream_that_ends_is_opened_again_where_it_was(daemon: FakeDaemon) -> None:
    first, second = daemon.streaming(OPEN + frame("41-2")), daemon.streaming(OPEN)
    daemon.on(EVENTS, first, second)
    daemon.on(ROUTE, job("running"), job("completed"))
    states = waiting(daemon)
    assert [next_status(states), next_status(states)] == ["queued", "running"]
    first.end()
    assert next_status(states) == "completed"
    opened = [request.headers.get("Last-Event-ID") for request in daemon.requests if request.path == "/api/events"]
    assert opened == [None, "41-2"]


def test_a_silent_stream_is_taken_for_dead(daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    # Longer than patience, as in truth: what is silent must not count as failing.
    monkeypatch.setattr(events, "SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(events, "PATIENCE_SECONDS", 0.1)
    daemon.on(EVENTS, daemon.streaming(OPEN), daemon.streaming(OPEN))
    daemon.on(ROUTE, job("running"), job("completed"))
    assert [state["status"] for state in waiting(daemon)] == ["queued", "running", "completed"]
    assert daemon.asked().count(EVENTS) == 2


@pytest.mark.parametrize(
    "reply",
    [
        (404, error_body("memcastle::server::route_not_found", "no such route")),
        (503, error_body("memcastle::events::full", "too many streams")),
        (502, b"<html>a proxy speaks</html>"),
        (200, {"not": "a stream"}),
    ],
    ids=["unknown", "full", "proxy", "no stream"],
)
def test_without_a_stream_the_job_is_polled_and_the_log_says_so(
    daemon: FakeDaemon, reply: tuple[int, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "memcastle.client")
    daemon.on(EVENTS, reply)
    daemon.on(ROUTE, job("running"), job("running"), job("completed"))
    assert [state["status"] for state in waiting(daemon)] == ["queued", "running", "running", "completed"]
    assert daemon.asked() == [EVENTS, ROUTE, ROUTE, ROUTE]
    assert "polling instead" in caplog.text


def test_a_daemon_that_stops_while_it_is_asked_is_waited_for(daemon: FakeDaemon) -> None:
    stopping = (503, error_body("memcastle::server::shutting_down", "stopping"))
    daemon.on(EVENTS, daemon.streaming(OPEN), stopping, daemon.streaming(OPEN))
    daemon.on(ROUTE, stopping, job("completed"))
    assert [state["status"] for state in waiting(daemon)] == ["queued", "completed"]


def test_patience_ends_with_a_daemon_that_only_hangs_up(daemon: FakeDaemon) -> None:
    def hang_up(request: Request) -> tuple[int, Any]:
        stream = LiveStream()
        stream.end()
        return 200, stream

    daemon.replies[EVENTS] = hang_up
    clock = Clock()
    client = DaemonClient(Endpoint("127.0.0.1", daemon.port, "config"))
    with pytest.raises(ClientRequestFailed):
        list(watch(lambda: client, job(), sleep=clock.sleep, clock=clock))
    assert clock.now > events.PATIENCE_SECONDS


def test_the_connection_is_closed_when_nobody_follows_any_more(daemon: FakeDaemon) -> None:
    stream = daemon.streaming(OPEN)
    daemon.on(EVENTS, stream)
    client = DaemonClient(Endpoint("127.0.0.1", daemon.port, "config"))
    with Follower(lambda: client) as follower:
        assert next(iter(follower)).everything
    until(lambda: stream.send(COMMENT) or stream.abandoned.is_set(), "the daemon to see that the client has gone")


def test_it_tells_that_the_daemon_is_away(daemon: FakeDaemon) -> None:
    first = daemon.streaming(OPEN)
    daemon.on(EVENTS, first, daemon.streaming(OPEN))
    client = DaemonClient(Endpoint("127.0.0.1", daemon.port, "config"))
    with Follower(lambda: client) as follower:
        news = iter(follower)
        assert next(news) == News(everything=True)
        first.end()
        assert list(itertools.islice(news, 2)) == [News(away=True), News(everything=True)]


@pytest.mark.parametrize("data", ["", "7", "null", "[]", "{", '"job"'])
def test_data_that_is_no_event_is_none(data: str) -> None:
    assert Event.of(Frame("job", data, "")) is None


def test_an_event_keeps_what_it_knows_and_ignores_what_it_does_not() -> None:
    data = json.dumps({"kind": "job", "action": "updated", "id": JOB_ID, "status": 7, "mood": "good"})
    assert Event.of(Frame("job", data, "")) == Event("job", "updated", JOB_ID, None)
