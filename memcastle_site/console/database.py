"""The database endpoint, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memcastle_site.console.text import harmless_line, moment

if TYPE_CHECKING:
    from rich.console import Console

TOKEN_PASSWORD = "the daemon's access token"
OPEN_PASSWORD = "memcastle, since authentication is off"


def render_endpoint(console: Console, endpoint: Mapping[str, Any]) -> None:
    """Whether it is open, and what a program needs to connect."""
    from rich.text import Text

    if not endpoint["running"]:
        console.print(Text.assemble(("database endpoint is ", "bold"), ("closed", "bold yellow")))
        console.print(Text("\n  open: python manage.py db start", "dim"))
        return
    already = " already" if endpoint["already_running"] else ""
    console.print(Text.assemble(("database endpoint is", "bold"), already, (" open", "bold green")))
    rows = (
        ("url", endpoint["url"]),
        ("namespace", endpoint["namespace"]),
        ("database", endpoint["database"]),
        ("user", endpoint["user"]),
        ("password", TOKEN_PASSWORD if endpoint["auth_required"] else OPEN_PASSWORD),
        ("reached by", "other machines, too" if endpoint["remote"] else "this machine only"),
        ("since", moment(endpoint["started_at"])),
    )
    for name, value in rows:
        console.print(Text.assemble((f"  {name:<10} ", "dim"), harmless_line(str(value))), soft_wrap=True)
    console.print(Text("\n  close: python manage.py db stop", "dim"))
