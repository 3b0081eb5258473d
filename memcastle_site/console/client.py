"""The HTTP client of the commands: one request, one connection, JSON both ways."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlencode

from memcastle_site import __version__
from memcastle_site.errors import ClientNotRunning, ClientRemoteRejected, ClientRequestFailed
from palace.domain.modes import MemoryMode
from palace.errors import ConfigInvalid, InvalidInput

logger = logging.getLogger("memcastle.client")

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 60.0
CHUNK_BYTES = 65_536
LONG_ANSWER_SECONDS = 900.0
"""For requests whose work grows with the palace, such as the deletion of a wing."""

Query = Mapping[str, str | int | bool | None]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the daemon is dialled, and which of the two told so: its registry file or the configuration."""

    host: str
    port: int
    source: Literal["registry", "config"]

    @property
    def url(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the daemon: HTTP status and the JSON value of its body."""

    status: int
    body: Any

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


def route(*segments: str) -> str:
    """The path below `/api` with every segment percent-encoded, slashes included. Raises InvalidInput."""
    try:
        return "/api/" + "/".join(quote(segment, safe="") for segment in segments)
    except UnicodeEncodeError:
        raise InvalidInput("path", "it is not valid Unicode") from None


def _query_string(query: Query | None) -> str:
    given = {name: _query_value(value) for name, value in (query or {}).items() if value is not None and value is not False}
    try:
        return "?" + urlencode(given, quote_via=quote) if given else ""
    except UnicodeEncodeError:
        raise InvalidInput("query", "it is not valid Unicode") from None


def _query_value(value: str | int | bool | None) -> str:
    return "true" if value is True else str(value)


class DaemonClient:
    """Speaks to one daemon. Every method raises a subclass of MemCastleError when no good answer came.

    ClientNotRunning: nothing listens there. ClientRequestFailed: the request broke, or the answer is no answer of
    ours. ClientRemoteRejected: the daemon refused (`exchange` returns such answers instead).
    """

    def __init__(self, endpoint: Endpoint, *, token: str | None = None, mode: MemoryMode | None = None) -> None:
        self.endpoint = endpoint
        self._headers = {"Accept": "application/json", "User-Agent": f"memcastle/{__version__}", "Connection": "close"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        if mode is not None:
            self._headers["X-MemCastle-Mode"] = mode.value

    def get(self, path: str, query: Query | None = None) -> Any:
        return accepted(self.exchange("GET", path, query=query))

    def post(self, path: str, body: object = None, *, timeout: float = ANSWER_SECONDS) -> Any:
        return accepted(self.exchange("POST", path, body=body, timeout=timeout))

    def delete(self, path: str, *, timeout: float = LONG_ANSWER_SECONDS) -> Any:
        return accepted(self.exchange("DELETE", path, timeout=timeout))

    def exchange(
        self, method: str, path: str, *, query: Query | None = None, body: object = None, timeout: float = ANSWER_SECONDS
    ) -> Answer:
        """Sends one request and returns the answer, whatever its status. `timeout` is in seconds, for the answer."""
        target = path + _query_string(query)
        payload, headers = None, self._headers
        if body is not None:
            payload = _encoded(body)
            headers = {**headers, "Content-Type": "application/json"}
        status, content = self._send(method, target, payload, headers, timeout)
        logger.debug("%s answered %d", method, status, extra={"endpoint": self.endpoint.url})
        return Answer(status, self._decoded(status, content))

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str], *, silence: float) -> Iterator[Stream | Answer]:
        """An answer that goes on and on. A refusal is given as an Answer, its body None when that is no JSON.

        `silence` is in seconds: after so long without a byte the stream is taken for dead, which raises
        ClientRequestFailed as every other break does.
        """
        connection = self._connected(silence)
        try:
            with self._failures(silence):
                connection.request("GET", path, headers={**self._headers, **headers})
                response = connection.getresponse()
                content = None if response.status == 200 else response.read()
            yield Stream(self, response, silence) if content is None else Answer(response.status, _json_or_none(content))
        finally:
            connection.close()

    def _send(
        self, method: str, target: str, payload: bytes | None, headers: Mapping[str, str], timeout: float
    ) -> tuple[int, bytes]:
        connection = self._connected(timeout)
        try:
            with self._failures(timeout):
                connection.request(method, target, body=payload, headers=dict(headers))
                response = connection.getresponse()
                return response.status, response.read()
        finally:
            connection.close()

    def _connected(self, timeout: float) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(self.endpoint.host, self.endpoint.port, timeout=CONNECT_SECONDS)
        try:
            with self._failures(CONNECT_SECONDS):
                connection.connect()
                connection.sock.settimeout(timeout)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _failures(self, waited: float) -> Iterator[None]:
        """Turns what the transport raises into errors of ours; `waited` is how long it waits for a byte."""
        try:
            yield
        except ConnectionRefusedError as error:
            raise ClientNotRunning(f"no daemon answers at {self.endpoint.url} ({_found_in(self.endpoint)})") from error
        except TimeoutError as error:
            raise ClientRequestFailed(f"the daemon at {self.endpoint.url} did not answer within {waited:g} seconds") from error
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise ClientRequestFailed(f"the request to {self.endpoint.url} broke: {reason}") from error
        except ValueError as error:
            # http.client refuses header values with line ends or characters outside Latin-1; the token is the only free one.
            raise ConfigInvalid("auth.token: it holds characters that an HTTP header cannot carry") from error

    def _decoded(self, status: int, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError as error:
            raise ClientRequestFailed(
                f"{self.endpoint.url} answered HTTP {status} with something that is not JSON",
                help="Another program may listen at this address. Check the port, and `python manage.py status`.",
            ) from error


@dataclass(frozen=True, slots=True)
class Stream:
    """An open answer of status 200 that has no end."""

    client: DaemonClient
    response: http.client.HTTPResponse
    silence: float

    @property
    def content_type(self) -> str:
        """The media type, lower case and without parameters."""
        return (self.response.getheader("Content-Type") or "").partition(";")[0].strip().lower()

    def chunks(self) -> Iterator[bytes]:
        """What has arrived, as soon as something has, until the daemon ends the stream."""
        while True:
            with self.client._failures(self.silence):
                chunk = self.response.read1(CHUNK_BYTES)
            if not chunk:
                return
            yield chunk


def _found_in(endpoint: Endpoint) -> str:
    return "address from the registry file of the palace" if endpoint.source == "registry" else "the configured address"


def _json_or_none(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _encoded(body: object) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput("body", "it is not valid Unicode") from None


def accepted(answer: Answer) -> Any:
    """The body of a good answer. Raises ClientRemoteRejected for an error, ClientRequestFailed for a stranger's answer."""
    if answer.ok:
        return answer.body
    body = answer.body
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        raise ClientRequestFailed(f"HTTP {answer.status} came without an error body of MemCastle")
    code = body.get("code") or "no code"
    raise ClientRemoteRejected(
        f"the daemon refused (HTTP {answer.status}, {code}): {body['error']}", help=body.get("help") or None
    )
