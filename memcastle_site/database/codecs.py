"""The two encodings of the protocol. Both hand requests on as CBOR, which is what the engine takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from uuid import UUID

import cbor2

from memcastle_site.database import cbor, values
from memcastle_site.database.cbor import MAX_DEPTH, Malformed
from memcastle_site.database.messages import Refused, Request, invalid_params, invalid_request, unreadable
from palace.store.sessions import NONE, Reply, array, text

THREAD_BYTES = 128 * 1024
"""Messages from this size on are read and written in a thread, so that other clients are not kept waiting."""

_NULLS = (b"\xf6", b"\xf7", NONE)
_TARGETS = {
    "select": (0,),
    "create": (0,),
    "update": (0,),
    "upsert": (0,),
    "merge": (0,),
    "patch": (0,),
    "delete": (0,),
    "relate": (0, 1, 2),
}
"""Parameters of a method that name a table or a record."""

Result = TypeVar("Result")


class Codec(Protocol):
    """Reads requests from frames and writes answers into them."""

    @property
    def subprotocol(self) -> str:
        """The name by which a client asks for it."""

    async def read(self, frame: bytes | str) -> Request:
        """Raises Refused for a frame that is no request."""

    async def write(self, request: Request | None, reply: Reply | Refused) -> bytes | str:
        """The frame that answers `request`, or nobody in particular."""


@dataclass(frozen=True, slots=True)
class Cbor:
    """Binary frames; values keep every type."""

    subprotocol: str = "cbor"

    async def read(self, frame: bytes | str) -> Request:
        message = frame.encode() if isinstance(frame, str) else frame
        return await _off_loop(len(message), self._request, message)

    def _request(self, message: bytes) -> Request:
        try:
            found = dict(cbor.entries(message))
        except Malformed as error:
            raise unreadable(str(error)) from None
        method, params = found.get("method", b"\xf6"), found.get("params", b"\x80")
        if not cbor.is_text(method):
            raise invalid_request("it names no method")
        if params in _NULLS:
            params = b"\x80"
        if params[0] >> 5 != 4:
            raise invalid_request("its parameters are no list")
        session, transaction = found.get("session", b"\xf6"), found.get("txn", b"\xf6")
        return Request(
            found.get("id"), cbor.text_of(method), params, _session(_loaded(session)), transaction=transaction not in _NULLS
        )

    async def write(self, request: Request | None, reply: Reply | Refused) -> bytes:
        pairs = []
        if request is not None and request.id is not None:
            pairs.append(text("id") + request.id)
        if isinstance(reply, Refused):
            pairs.append(text("error") + cbor2.dumps(reply.error))
        else:
            pairs.append(text("result" if reply.ok else "error") + reply.value)
        if request is not None and request.session is not None:
            pairs.append(text("session") + cbor2.dumps(request.session))
        return bytes([0xA0 + len(pairs)]) + b"".join(pairs)


@dataclass(frozen=True, slots=True)
class Json:
    """Text frames. Values are written as SurrealDB writes them; texts of a request stay texts.

    Only where a method expects a table or record, `table:id` is read as a record.
    """

    subprotocol: str = "json"

    async def read(self, frame: bytes | str) -> Request:
        return await _off_loop(len(frame), self._request, frame)

    def _request(self, frame: bytes | str) -> Request:
        try:
            message = json.loads(frame, parse_constant=_no_constant)
        except RecursionError:
            raise unreadable(f"it is nested more than {MAX_DEPTH} deep") from None
        except ValueError as error:
            raise unreadable(str(error)) from None
        if not isinstance(message, dict):
            raise invalid_request("it is no object")
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            raise invalid_request("it names no method")
        if not isinstance(params, list | None):
            raise invalid_request("its parameters are no list")
        return Request(
            message.get("id"),
            method,
            _encoded(method, params or []),
            _session(message.get("session")),
            transaction=message.get("txn") is not None,
        )

    async def write(self, request: Request | None, reply: Reply | Refused) -> str:
        size = 0 if isinstance(reply, Refused) else len(reply.value)
        return await _off_loop(size, self._answer, request, reply)

    def _answer(self, request: Request | None, reply: Reply | Refused) -> str:
        answer: dict[str, Any] = {}
        if request is not None and request.id is not None:
            answer["id"] = request.id
        if isinstance(reply, Refused):
            answer["error"] = reply.error
        else:
            answer["result" if reply.ok else "error"] = values.decode(reply.value)
        if request is not None and request.session is not None:
            answer["session"] = str(request.session)
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


CODECS: Mapping[str, Codec] = {"cbor": Cbor(), "json": Json()}
"""By subprotocol, the preferred first."""


def _encoded(method: str, params: list[Any]) -> bytes:
    """A list of JSON values as a CBOR array."""
    try:
        if method == "use":
            # JSON cannot say NONE, which leaves a name as it is.
            return array(*(NONE if item is None else cbor2.dumps(item) for item in params))
        targets = _TARGETS.get(method, ())
        encoded = cbor2.dumps([_target(item) if place in targets else item for place, item in enumerate(params)])
        cbor.item_end(encoded, 0)
    except Malformed as error:
        raise unreadable(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise unreadable(f"a value cannot be passed on ({type(error).__name__})") from None
    return encoded


def _target(item: Any) -> Any:
    if isinstance(item, list):
        return [_target(part) for part in item]
    if isinstance(item, str) and ":" in item:
        return cbor2.CBORTag(8, item)
    return item


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _loaded(value: bytes) -> Any:
    return None if value in _NULLS else cbor2.loads(value) if len(value) < 64 else value


def _session(value: Any) -> UUID | None:
    try:
        return value if isinstance(value, UUID | None) else UUID(str(value))
    except ValueError:
        raise invalid_params("Expected session to be a UUID") from None


async def _off_loop(size: int, function: Callable[..., Result], *arguments: Any) -> Result:
    """Runs small work here and large work in a thread."""
    return await asyncio.to_thread(function, *arguments) if size >= THREAD_BYTES else function(*arguments)
