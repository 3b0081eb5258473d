"""A daemon of a few lines: one front before an application whose every route provokes something.

Run as `python -m tests.site.front_app GRACE`; prints `{"port": …}` once it serves, stops at SIGTERM.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from typing import Any

from memcastle_site.conf import LoggingConfig
from memcastle_site.daemon import front
from memcastle_site.daemon.sockets import bind
from memcastle_site.logs import configure

logger = logging.getLogger("memcastle.test")


class Application:
    def __init__(self) -> None:
        self.front = front.Front(self)
        self.released = asyncio.Event()
        self.counters = {"waiting": 0, "disconnected": 0, "flooded": 0, "cancelled": 0}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await self.websocket(scope, receive, send)
            return
        name = scope["path"].strip("/").replace("-", "_")
        handler = getattr(self, f"do_{name}", None)
        if handler is None:
            await answer(send, {"no": "route"}, status=404)
        else:
            await handler(scope, receive, send)

    async def do_hello(self, scope: Any, receive: Any, send: Any) -> None:
        await answer(send, {"root_path": scope["root_path"], "path": scope["path"]})

    async def do_echo(self, scope: Any, receive: Any, send: Any) -> None:
        size = 0
        while (message := await receive())["type"] == "http.request":
            size += len(message["body"])
            if not message.get("more_body"):
                break
        await answer(send, {"size": size})

    async def do_state(self, scope: Any, receive: Any, send: Any) -> None:
        kept = {"descriptors": len(os.listdir("/proc/self/fd")), "exchanges": len(self.front._exchanges)}
        await answer(send, {**self.counters, **kept})

    async def do_wait(self, scope: Any, receive: Any, send: Any) -> None:
        self.counters["waiting"] += 1
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.counters["cancelled"] += 1
            raise
        await answer(send, {"waited": True})

    async def do_release(self, scope: Any, receive: Any, send: Any) -> None:
        self.released.set()
        await answer(send, {})

    async def do_begin_and_wait(self, scope: Any, receive: Any, send: Any) -> None:
        self.counters["waiting"] += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        await asyncio.Event().wait()

    async def do_stream(self, scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await receive()
        while (await receive())["type"] != "http.disconnect":
            pass
        self.counters["disconnected"] += 1

    async def do_flood(self, scope: Any, receive: Any, send: Any) -> None:
        self.counters["waiting"] += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        block = b"x" * 65536
        while True:
            await send({"type": "http.response.body", "body": block, "more_body": True})
            self.counters["flooded"] += len(block)

    async def do_crash(self, scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("crash wanted")

    async def do_crash_late(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("late crash wanted")

    async def do_silent(self, scope: Any, receive: Any, send: Any) -> None:
        return

    async def do_text_headers(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"a", 5)]})

    async def do_close(self, scope: Any, receive: Any, send: Any) -> None:
        await answer(send, {}, headers=[(b"connection", b"close")])

    async def websocket(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        if scope["path"] == "/refused":
            await send({"type": "websocket.close"})
            return
        await send({"type": "websocket.accept"})
        if scope["path"] == "/crash":
            raise RuntimeError("socket crash wanted")
        if scope["path"] == "/flood":
            self.counters["waiting"] += 1
            while True:
                await send({"type": "websocket.send", "bytes": b"x" * 65536})
                self.counters["flooded"] += 65536
        while scope["path"] == "/chatter" and not self.front.closing:
            await asyncio.sleep(0.005)
        for _ in range(20 if scope["path"] == "/chatter" else 0):
            await asyncio.sleep(0.005)
            await send({"type": "websocket.send", "text": "an answer that comes late"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"].upper()})
        self.counters["disconnected"] += 1


async def answer(send: Any, value: object, status: int = 200, headers: Any = ()) -> None:
    body = json.dumps(value).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def serve(grace: float) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    server = Application().front
    _, port = await server.open(bind("127.0.0.1", 0))
    print(json.dumps({"port": port}), flush=True)
    await stop.wait()
    await server.close(grace)
    logger.info("closed")


if __name__ == "__main__":
    configure(LoggingConfig(), {})
    front.tune()
    front.run(lambda: serve(float(sys.argv[1])))
