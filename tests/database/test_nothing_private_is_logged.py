"""Of requests the log holds the method, the outcome and the time."""

from __future__ import annotations

import contextlib
import uuid

from websockets.exceptions import InvalidStatus

from tests.database.support import TOKEN, Endpoint

PRIVATE = "the-very-private-words"


def test_no_secret_and_no_content(guarded: Endpoint) -> None:
    secrets = [TOKEN, PRIVATE]
    for protocol in ("cbor", "json"):
        with guarded.client(protocol) as client:
            client.error("signin", {"user": PRIVATE, "pass": PRIVATE})
            secrets.append(client.result("signin", {"user": "memcastle", "pass": TOKEN}))
            session = str(uuid.uuid4())
            client.result("attach", session=session)
            client.result("authenticate", secrets[-1], session=session)
            client.result("let", PRIVATE.replace("-", "_"), PRIVATE)
            client.query("RETURN $a", {"a": PRIVATE})
            client.error("query", f"RETURN {PRIVATE} {PRIVATE}")
            client.result("query", f"THROW '{PRIVATE}'")
            client.error(PRIVATE)
            client.socket.send(f'{{"{PRIVATE}')
            client.receive()
    with contextlib.suppress(InvalidStatus), guarded.connect(headers={"Authorization": f"Bearer {PRIVATE}"}):
        pass
    log = guarded.daemon.log.read_text()
    assert "method=signin outcome=ok" in log
    assert "method=other outcome=refused" in log
    for secret in (*secrets, PRIVATE.replace("-", "_")):
        assert secret not in log
    assert "request_id" not in "".join(line for line in log.splitlines() if "database request" in line)
