"""A stand-in for `manage.py serve`: registers, answers health, status and shutdown, and ends as FAKE_SERVE says.

Values: `dies` (prints a reason and exits with 7), `dies_once` (the first time only), `drains` (keeps its process and its
registry file until the file named by FAKE_GATE exists), anything else serves and stops at once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from memcastle_site import conf
from memcastle_site.daemon import registry


class Handler(BaseHTTPRequestHandler):
    def answer(self) -> None:
        shutting_down = self.path == "/api/shutdown"
        palace = str(loaded.section(conf.PalaceConfig).path)
        body = {"status": "shutting_down"} if shutting_down else {"status": "ok", "palace_path": palace, "argv": sys.argv[1:]}
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        if shutting_down:
            threading.Thread(target=self.server.shutdown).start()

    do_GET = do_POST = answer  # noqa: N815 - names that http.server looks for


def end(behaviour: str) -> None:
    marker = Path(os.environ["HOME"]) / "died"
    if behaviour == "dies" or (behaviour == "dies_once" and not marker.exists()):
        marker.touch()
        print("error: the cellar is flooded", file=sys.stderr)
        sys.exit(7)


parser = argparse.ArgumentParser()
parser.add_argument("command")
for flag in ("--palace", "--bind", "--port", "--config"):
    parser.add_argument(flag)
args = parser.parse_args()
behaviour = os.environ.get("FAKE_SERVE", "")
flags = {"config": args.config, "palace.path": args.palace, "server.bind": args.bind, "server.port": args.port}
loaded = conf.load({key: value for key, value in flags.items() if value is not None}, os.environ)
end(behaviour)
server = loaded.section(conf.ServerConfig)
listener = ThreadingHTTPServer((server.bind, server.port), Handler)
file = registry.registry_path(loaded.places.state, loaded.section(conf.PalaceConfig).path)
entry = registry.registration_of_this_process(
    server.bind, listener.server_address[1], "2026-03-01T12:00:00.000000000Z", "0.1.0"
)
registry.write(file, entry)
listener.serve_forever(poll_interval=0.01)
listener.server_close()
if behaviour == "drains":
    gate = Path(os.environ["FAKE_GATE"])
    while not gate.exists():
        threading.Event().wait(0.01)
registry.remove(file, entry)
