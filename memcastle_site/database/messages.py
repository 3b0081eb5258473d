"""Requests and answers of the protocol, whatever they are encoded as, and the errors that the endpoint itself gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `id` belongs to the codec that read it; `params` is a CBOR array.

    `session` is None for the connection's own session, `transaction` tells whether the request names one.
    """

    id: Any
    method: str
    params: bytes
    session: UUID | None
    transaction: bool


class Refused(Exception):
    """The endpoint itself refuses a request; carries SurrealDB's error object."""

    def __init__(self, code: int, kind: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message, "kind": kind, "cause": None}
        if details is not None:
            self.error["details"] = details


def unreadable(reason: str) -> Refused:
    """The message, or a value in it, cannot be decoded."""
    return Refused(-32700, "Validation", f"Parse error: {reason}", {"kind": "Parse"})


def invalid_request(reason: str) -> Refused:
    """The message is no request."""
    return Refused(-32600, "Validation", f"Invalid request: {reason}", {"kind": "InvalidRequest"})


def invalid_params(reason: str) -> Refused:
    """The parameters are not those of the method."""
    return Refused(-32603, "Validation", reason, {"kind": "InvalidParams"})


def unknown_method(name: str) -> Refused:
    """No version of the protocol that is spoken here has the method."""
    return Refused(-32601, "NotFound", "Method not found", {"kind": "Method", "details": {"name": name}})


def method_refused(name: str, reason: str) -> Refused:
    """The protocol has the method, this endpoint does not."""
    return Refused(-32602, "NotAllowed", f"Method not allowed: {reason}", {"kind": "Method", "details": {"name": name}})


def live_refused() -> Refused:
    """Live queries are not served."""
    reason = "live queries are not served here; GET /api/events tells what changes"
    return Refused(
        -32604, "Configuration", f"Unable to perform the realtime query: {reason}", {"kind": "LiveQueryNotSupported"}
    )


def not_signed_in() -> Refused:
    """The session may do nothing yet."""
    details = {"actor": "anonymous", "action": "process", "resource": "query"}
    return Refused(
        -32002,
        "NotAllowed",
        "Anonymous access not allowed: Not enough permissions to perform this action",
        {"kind": "Auth", "details": {"kind": "NotAllowed", "details": details}},
    )


def sign_in_refused() -> Refused:
    """User, password or token are wrong; never says which."""
    return Refused(
        -32002, "NotAllowed", "There was a problem with authentication", {"kind": "Auth", "details": {"kind": "InvalidAuth"}}
    )


def session_exists(session: UUID) -> Refused:
    """The connection has a session of that id already."""
    return Refused(
        -32000, "AlreadyExists", f"Session already exists: {session}", {"kind": "Session", "details": {"id": str(session)}}
    )


def session_unknown(session: UUID) -> Refused:
    """The connection has no session of that id."""
    return Refused(-32000, "NotFound", f"Session not found: {session}", {"kind": "Session", "details": {"id": str(session)}})


def failed(reason: str) -> Refused:
    """The endpoint, not the request, is at fault."""
    return Refused(-32000, "Internal", reason)
