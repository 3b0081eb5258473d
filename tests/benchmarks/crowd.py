"""Many readers of the event stream in one process: counts what each of them saw, and prints the counts at the end.

Run as `python -m tests.benchmarks.crowd PORT READERS`; ends when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys

MARK = b"event: drawer\n"


class Reader(asyncio.Protocol):
    """One stream; `seen` is how many drawer events it was told of."""

    def __init__(self) -> None:
        self.seen = 0
        self.resyncs = 0
        self.opened = asyncio.Event()
        self._tail = b""

    def data_received(self, data: bytes) -> None:
        text = self._tail + data
        if b"event: open\n" in text:
            self.opened.set()
        self.seen += text.count(MARK)
        self.resyncs += text.count(b"event: resync\n")
        # Short enough to hold no whole mark, long enough for a cut one.
        self._tail = text[-(len(MARK) - 1) :]


async def main(port: int, readers: int) -> None:
    loop = asyncio.get_running_loop()
    crowd = []
    for _ in range(readers):
        transport, reader = await loop.create_connection(Reader, "127.0.0.1", port)
        transport.write(f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        crowd.append(reader)
    for reader in crowd:
        await reader.opened.wait()
    print("ready", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    counts = [reader.seen for reader in crowd]
    print(json.dumps({"counts": counts, "resyncs": sum(r.resyncs for r in crowd), "cpu": usage.ru_utime + usage.ru_stime}))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
