"""The one shared credential: a bearer token from the configuration, or one the daemon generated."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any

from memcastle_site.conf import AuthConfig
from memcastle_site.errors import AuthNotConfigured, EntropyUnavailable, Unauthorized
from memcastle_site.gate import bearer_token
from memcastle_site.store import Verifier, delete_verifier, read_verifier, write_verifier
from palace.clock import now
from palace.configuration import current as configured
from palace.store import current

ALGORITHM = "sha256"
VERSION = 1
TOKEN_BYTES = 32
TOKEN_PREFIX = "mc_"


async def generate_token() -> dict[str, Any]:
    """A new token, which replaces the generated one before; only its digest is kept.

    Raises EntropyUnavailable, with the old token still in force.
    """
    try:
        token = TOKEN_PREFIX + secrets.token_hex(TOKEN_BYTES)
    except NotImplementedError as error:
        raise EntropyUnavailable("the operating system gave no randomness") from error
    verifier = Verifier(ALGORITHM, VERSION, _digest(token), now())
    await write_verifier(current(), verifier)
    return {"token": token, "algorithm": ALGORITHM, "version": VERSION, "created_at": verifier.created_at}


async def revoke_token() -> bool:
    """Forgets the generated token; False when there was none. A configured token stays valid."""
    return await delete_verifier(current())


async def authenticate(header: str | None) -> None:
    """Checks an Authorization header. Raises Unauthorized; a store out of reach refuses too (StoreFailed)."""
    digest = _digest(bearer_token(header))
    secret = configured(AuthConfig).token
    if secret is not None and hmac.compare_digest(digest, _digest(secret)):
        return
    # Read on every request, so that a revoked token stops working at once.
    verifier = await read_verifier(current())
    known = verifier is not None and (verifier.algorithm, verifier.version) == (ALGORITHM, VERSION)
    if verifier is None or not known or not hmac.compare_digest(digest, verifier.digest):
        raise Unauthorized("the bearer token is invalid")


async def require_satisfiable() -> None:
    """Raises AuthNotConfigured when authentication is on and no token could ever pass."""
    config = configured(AuthConfig)
    if config.enabled and config.token is None and await read_verifier(current()) is None:
        raise AuthNotConfigured("auth.enabled is true, but there is neither a configured nor a generated token")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
