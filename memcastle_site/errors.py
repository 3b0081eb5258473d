"""Errors of the daemon's life, of authentication, and of the commands (`docs/errors.md`)."""

from __future__ import annotations

from palace.errors import MemCastleError


class Unauthorized(MemCastleError):
    """The bearer token is missing, malformed or wrong. The message carries that one word and never the token."""

    code = "memcastle::auth::unauthorized"
    status = 401
    help = "Send the header 'Authorization: Bearer TOKEN'; commands take the token from MEMCASTLE_AUTH_TOKEN or auth.token."


class AuthNotConfigured(MemCastleError):
    """Authentication is on and nothing could satisfy it."""

    code = "memcastle::auth::not_configured"
    help = (
        "Set MEMCASTLE_AUTH_TOKEN or auth.token, or start once with auth.enabled = false and run "
        "`python manage.py auth generate`."
    )


class EntropyUnavailable(MemCastleError):
    """The operating system gave no randomness, so no token was made."""

    code = "memcastle::auth::entropy_unavailable"
    help = "No token was made and the old one, if any, still holds. Try again."


class HostRefused(MemCastleError):
    """The Host header names a machine this daemon does not answer for (DNS rebinding)."""

    code = "memcastle::server::host_refused"
    status = 421
    help = "Use http://127.0.0.1:PORT or http://localhost:PORT, or list the name in server.allowed_hosts."


class OriginRefused(MemCastleError):
    """A web page of another site sent the request."""

    code = "memcastle::server::origin_refused"
    status = 403
    help = "Open the daemon's own address in the browser, or list the origin in server.allowed_origins."


class RouteNotFound(MemCastleError):
    """No route has that path."""

    code = "memcastle::server::route_not_found"
    status = 404
    help = "docs/rest.md and GET /api/docs list every route; routes have no trailing slash."


class MethodNotAllowed(MemCastleError):
    """The route exists, the method does not."""

    code = "memcastle::server::method_not_allowed"
    status = 405
    help = "The Allow header names the methods of this route."

    def __init__(self, message: str, *, allowed: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.allowed = allowed


class ServerFailed(MemCastleError):
    """A fault of the daemon."""

    code = "memcastle::server::failed"
    help = "See the daemon's log; the request id of the answer (x-request-id) names the line."


class ShuttingDown(MemCastleError):
    """The daemon is stopping and takes no new requests."""

    code = "memcastle::server::shutting_down"
    status = 503
    help = "Wait until the daemon is back and send the request again."


class Interrupted(MemCastleError):
    """The daemon stopped while it carried the request out, and nobody knows how far it came."""

    code = "memcastle::server::interrupted"
    status = 503
    help = "It may have been carried out or not. Wait until the daemon is back, and look before you send it again."


class BindFailed(MemCastleError):
    """The address could not be bound; nothing has been created or changed."""

    code = "memcastle::server::bind_failed"
    help = "Choose another --port or --bind, or stop the process that holds the address."


class UnsafeBind(MemCastleError):
    """The database endpoint was asked to listen beyond loopback without the opt-in or without authentication."""

    code = "memcastle::db::unsafe_bind"
    status = 400
    help = "Use 127.0.0.1, or give both: `allow_remote` (db.allow_remote) and auth.enabled = true."


class DatabaseAlreadyRunning(MemCastleError):
    """The database endpoint is open with other settings."""

    code = "memcastle::db::already_running"
    status = 409
    help = "Use it as it is (`python manage.py db status`), or close it first with `python manage.py db stop`."


class DatabaseBindFailed(MemCastleError):
    """The database endpoint cannot listen at that address."""

    code = "memcastle::db::bind_failed"
    status = 409
    help = "Choose another port (db.port) or address (db.bind), or stop the process that holds it."


class DatabaseUnavailable(MemCastleError):
    """The palace is on a remote database, so the daemon has no database of its own to open."""

    code = "memcastle::db::unavailable"
    status = 400
    help = "Connect to that database itself, at the address in store.url."


class ClientNotRunning(MemCastleError):
    """No daemon answers at the address where it was looked for."""

    code = "memcastle::client::not_running"
    help = "Start it with `python manage.py daemon start`, or in the foreground with `make serve`."


class ClientAlreadyRunning(MemCastleError):
    """A daemon already answers for this palace or at this address."""

    code = "memcastle::client::already_running"
    help = "Use it, or stop it with `python manage.py daemon stop`."


class ClientRequestFailed(MemCastleError):
    """The request to the daemon broke on the way."""

    code = "memcastle::client::request_failed"
    help = "Check with `python manage.py status` that the daemon is well, then try again."


class ClientRemoteRejected(MemCastleError):
    """The daemon refused the request; status, inner code and help are the daemon's own."""

    code = "memcastle::client::remote_rejected"
    help = "docs/errors.md explains the code that the daemon gave."


class CommandAborted(MemCastleError):
    """The person answered no; nothing was changed."""

    code = "memcastle::cli::aborted"
    help = "Nothing was changed. Run the command again, or with --yes to skip the question."


class PromptFailed(MemCastleError):
    """The question could not be asked or answered."""

    code = "memcastle::cli::prompt_failed"
    help = "Nothing was changed. Run the command with --yes to skip the question."


class CommandUsage(MemCastleError):
    """The words of the command do not fit it."""

    code = "memcastle::cli::usage"
    help = "Run the command with --help to see its arguments."


class MigrationPending(MemCastleError):
    """`migrate --check` found steps that have not run."""

    code = "memcastle::migrate::pending"
    help = "Run `python manage.py migrate`, or start the daemon, which runs them."
