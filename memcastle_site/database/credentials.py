"""Who may sign in: one user, whose password is the daemon's token, or the user's own name while authentication is off."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable

from memcastle_site.errors import Unauthorized

USER = "memcastle"
OPEN_PASSWORD = "memcastle"

Authenticate = Callable[[str | None], Awaitable[None]]


class Credentials:
    """Checks passwords and tokens, and gives out tickets in their place.

    `authenticate` is the routine of the REST routes (None while authentication is off), asked at every sign-in, so a
    revoked token stops working. SDKs want a token back that looks like a JSON web token, and send it again for each
    further session; a ticket is that, and stands for the password it was given for while the endpoint is open.
    """

    def __init__(self, authenticate: Authenticate | None) -> None:
        self._authenticate = authenticate
        self._passwords: dict[str, str] = {}
        self._tickets: dict[str, str] = {}

    @property
    def required(self) -> bool:
        """Whether a connection starts signed out."""
        return self._authenticate is not None

    async def check(self, password: str) -> bool:
        """Whether a password, token or ticket passes. Raises StoreFailed when that cannot be told."""
        password = self._passwords.get(password, password)
        if self._authenticate is None:
            return hmac.compare_digest(password.encode(), OPEN_PASSWORD.encode())
        return await self.check_header(f"Bearer {password}")

    async def check_header(self, header: str) -> bool:
        """Whether an Authorization header passes. Raises StoreFailed when that cannot be told."""
        if self._authenticate is None:
            return True
        try:
            await self._authenticate(header)
        except (Unauthorized, UnicodeEncodeError):
            return False
        return True

    def ticket(self, password: str) -> str:
        """The ticket for a password that passed; the same one each time."""
        password = self._passwords.get(password, password)
        if password not in self._tickets:
            ticket = _ticket()
            self._tickets[password] = ticket
            self._passwords[ticket] = password
        return self._tickets[password]


def _ticket() -> str:
    parts = ({"alg": "none", "typ": "JWT"}, {"iss": "memcastle", "ID": USER, "jti": secrets.token_hex(16)})
    head, body = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    return f"{head}.{body}.{secrets.token_urlsafe(32)}"
