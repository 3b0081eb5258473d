"""The services of the daemon itself: its state, its configuration, its token, its end."""

from memcastle_site.services.auth import authenticate, generate_token, require_satisfiable, revoke_token
from memcastle_site.services.database import Opening, close_database, database_status, open_database
from memcastle_site.services.overview import Overview, overview
from memcastle_site.services.status import config_report, request_shutdown, status

__all__ = [
    "Opening",
    "Overview",
    "authenticate",
    "close_database",
    "config_report",
    "database_status",
    "generate_token",
    "open_database",
    "overview",
    "request_shutdown",
    "require_satisfiable",
    "revoke_token",
    "status",
]
