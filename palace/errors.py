"""The error base of every app, and the errors of the palace itself.

One failure is one triple wherever it is met: the message says what failed, the code is stable and made to be
matched on, the help says what to do next (`docs/errors.md`).
"""

from __future__ import annotations

from typing import ClassVar


class MemCastleError(Exception):
    """A failure that a caller can understand.

    Subclasses fix `code`, `status` (the HTTP status, also for errors that normally never reach HTTP) and a
    default `help`; the message says what failed in this very case.
    """

    code: ClassVar[str]
    status: ClassVar[int] = 500
    help: str = ""

    def __init__(self, message: str, *, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if help is not None:
            self.help = help

    def body(self) -> dict[str, str | None]:
        """The error as every door shows it: `{error, code, help}`."""
        return {"error": self.message, "code": self.code, "help": self.help or None}


class InvalidInput(MemCastleError):
    """A value that the caller supplied is not accepted; `field` names it."""

    code = "memcastle::input::invalid"
    status = 400
    help = "Correct the named value and send the request again; docs/rest.md lists what each route accepts."

    def __init__(self, field: str, reason: str, *, help: str | None = None) -> None:
        super().__init__(f"{field}: {reason}", help=help)
        self.field = field


class ModeForbidden(MemCastleError):
    """The memory mode of the request refuses what the operation does to memory."""

    code = "memcastle::mode::forbidden"
    status = 403
    help = "Send the request in a mode that allows it (header X-MemCastle-Mode), or leave memory alone in this session."


class ConfigInvalid(MemCastleError):
    """A configuration value, from whatever layer, is not accepted."""

    code = "memcastle::config::invalid"
    help = "Correct the key in the configuration file, the environment or the flags; docs/configuration.md lists every key."


class FileFailed(MemCastleError):
    """A file or directory that was named could not be read or written."""

    code = "memcastle::io::failed"
    help = "Check that the path exists and that the daemon's user may use it."


class SerializationFailed(MemCastleError):
    """A value could not be written as JSON: a fault of ours, never of the caller."""

    code = "memcastle::serialization::failed"
    help = "This is a fault in MemCastle; please report it with the request that caused it."


class StoreFailed(MemCastleError):
    """The database refused or failed a statement."""

    code = "memcastle::store::backend_failed"
    help = "See the daemon's log for the statement's error; `python manage.py status` shows the state of the datastore."


class StoreMalformed(MemCastleError):
    """A stored row has a shape that this version does not know."""

    code = "memcastle::store::malformed"
    help = "The palace was written by another version or edited by hand; run `python manage.py migrate --status`."


class SchemaSyncFailed(MemCastleError):
    """A schema file could not be applied to the palace."""

    code = "memcastle::store::schema_sync"
    help = "The palace is unchanged. Start the version that wrote it, or report the definition named above."


class MigrationLocked(MemCastleError):
    """Another process is migrating this palace."""

    code = "memcastle::migrate::locked"
    help = "Wait until the other process has finished and start again. The lock of one that died runs out by itself."


class MigrationFailed(MemCastleError):
    """A data step failed; the palace stays at the last step that succeeded."""

    code = "memcastle::migrate::failed"
    help = "The palace stays at the last step that succeeded and is not served. Correct the cause and start again."


class WingNotFound(MemCastleError):
    """No wing answers to that name or id."""

    code = "memcastle::palace::wing_not_found"
    status = 404
    help = "List the wings with `python manage.py wing list`; names are case-sensitive."


class RoomNotFound(MemCastleError):
    """No room of that wing answers to that name or id."""

    code = "memcastle::palace::room_not_found"
    status = 404
    help = "List the rooms with `python manage.py room list`; names are case-sensitive."


class DrawerNotFound(MemCastleError):
    """No drawer answers to that name or id."""

    code = "memcastle::palace::drawer_not_found"
    status = 404
    help = "List the drawers of a room with `python manage.py drawer list --room WING/ROOM`."


class PathInvalid(MemCastleError):
    """A name or path that would create something is not usable."""

    code = "memcastle::palace::path_invalid"
    status = 400
    help = (
        "Names must not be empty, start or end with white space, hold control characters or look like a UUID; "
        "wing and room names hold no '/', drawer names no empty, '.' or '..' segment."
    )


class DrawerNameTaken(MemCastleError):
    """The room already holds another drawer under that name."""

    code = "memcastle::palace::drawer_name_taken"
    status = 409
    help = "Choose another name, or delete the drawer that holds this one; a drawer's content is never rewritten."


class DrawerSuperseded(MemCastleError):
    """The drawer's validity has ended, so it cannot be ended again."""

    code = "memcastle::palace::drawer_superseded"
    status = 409
    help = "Nothing was written. Read its history, and supersede the version that is current."


class PalaceBusy(MemCastleError):
    """A deletion is refused while jobs that write to the palace are pending."""

    code = "memcastle::palace::busy"
    status = 409
    help = "Wait for those jobs or cancel them (`python manage.py job list`), then delete again."
