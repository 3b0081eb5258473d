"""A sign-in that is refused: the end of a start, and for a running daemon a reason to tell and to try again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cbor2
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from palace.store import SignInRefused, Store, open_remote
from tests.remote.support import Host, connected, guest, started
from tests.support import Daemon, until

TOKENS = ("a-token-of-the-first-day-0", "a-token-of-the-second-day")


@contextmanager
def guarded(daemon: Daemon, token: str, port: int = 0) -> Iterator[Host]:
    """Runs the daemon with that token and its endpoint open."""
    daemon.settings.update(MEMCASTLE_AUTH_ENABLED="true", MEMCASTLE_AUTH_TOKEN=token)
    headers = {"Authorization": f"Bearer {token}"}
    with started(daemon):
        answer = until(
            lambda: (found := daemon.request("POST", "/api/db", {"port": port}, headers=headers)).status == 200 and found,
            "the endpoint to open",
        )
        yield Host(daemon, answer.json["url"])


@pytest.mark.parametrize("wrong", [{"password": "mistyped"}, {"username": "somebody"}])
async def test_a_refused_sign_in_is_told_at_once(host: Host, wrong: dict[str, str]) -> None:
    with pytest.raises(SignInRefused, match="refused the sign-in") as refused:
        await open_remote(host.server(**wrong), patience=3600)
    assert "mistyped" not in refused.value.message
    assert "store.password" in refused.value.help


def test_a_daemon_does_not_start_and_says_why(host: Host, tmp_path: Path) -> None:
    daemon = guest(tmp_path / "home", host, store={"password": "mistyped"})
    answer = daemon.manage("serve", "--port", "0")
    assert answer.returncode == 1
    assert f"the database at {host.url} refused the sign-in of 'memcastle'" in answer.stderr
    assert "memcastle::store::backend_failed" in answer.stderr
    assert "mistyped" not in answer.stderr
    for words in (["migrate"], ["migrate", "--status"], ["migrate", "--check"]):
        answer = daemon.manage(*words)
        assert (answer.returncode, "refused the sign-in" in answer.stderr) == (1, True)


def test_a_password_that_changes_is_told_in_the_status_and_tried_again(tmp_path: Path) -> None:
    owner = Daemon(tmp_path / "owner", {})
    with guarded(owner, TOKENS[0]) as host:
        port = int(host.url.rpartition(":")[2])
        daemon = guest(tmp_path / "home", host, store={"password": TOKENS[0]})
        daemon.start()
    try:

        def datastore() -> dict[str, Any]:
            found: dict[str, Any] = daemon.get("/api/status")["datastore"]
            return found

        with guarded(owner, TOKENS[1], port):
            until(lambda: "refused the sign-in" in (datastore()["error"] or ""), "the refusal to be told")
            assert daemon.request("GET", "/api/wings").status == 503
        with guarded(owner, TOKENS[0], port):
            until(lambda: datastore()["ok"], "the daemon to come back by itself")
            assert daemon.get("/api/wings") == []
            assert daemon.stop() == 0
    finally:
        if daemon.process is not None:
            daemon.stop()
    assert not any(token in daemon.log.read_text() for token in TOKENS)


async def test_a_session_that_ended_is_signed_in_again_and_nothing_is_done_twice() -> None:
    """A server may give its users sessions of limited length, which the endpoint of a daemon does not."""
    carried_out: list[tuple[ServerConnection, str]] = []

    async def speak(socket: ServerConnection) -> None:
        answered = 0
        async for frame in socket:
            message = cbor2.loads(frame)
            answer: dict[str, Any] = {"id": message["id"], "result": None}
            if message["method"] == "query":
                if answered == 2:
                    answer = {"id": message["id"], "error": {"code": -32000, "kind": "NotAllowed", "message": "expired"}}
                else:
                    answered += 1
                    carried_out.append((socket, message["params"][0]))
                    answer["result"] = [{"status": "OK", "result": answered, "time": "1ms"}]
            elif message["method"] == "signin":
                answer["result"] = "token"
            await socket.send(cbor2.dumps(answer))

    async with serve(speak, "127.0.0.1", 0, subprotocols=[Subprotocol("cbor")]) as server:
        port = server.sockets[0].getsockname()[1]
        host = Host(Daemon(Path()), f"ws://127.0.0.1:{port}")
        async with connected(host.server()) as store:
            assert isinstance(store, Store)
            for number in range(5):
                await store.query(f"CREATE thing:{number};")
    assert [sql for _, sql in carried_out] == [f"CREATE thing:{number};" for number in range(5)]
    assert len({socket for socket, _ in carried_out}) == 3
