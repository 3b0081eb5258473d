"""The table `auth_state`."""

from __future__ import annotations

from dataclasses import dataclass

from palace.domain.clock import Timestamp
from palace.store import Store


@dataclass(frozen=True, slots=True)
class Verifier:
    """What a generated token is checked against."""

    algorithm: str
    version: int
    digest: str
    created_at: Timestamp


READ = "SELECT algorithm, version, digest, created_at FROM ONLY auth_state:token;"


async def read_verifier(store: Store) -> Verifier | None:
    """The stored verifier, if a token was generated."""
    row = await store.first(READ)
    return Verifier(**row) if row else None


WRITE = """
UPSERT auth_state:token CONTENT {
    algorithm: $algorithm, version: $version, digest: $digest, created_at: $created_at
} RETURN NONE;
"""


async def write_verifier(store: Store, verifier: Verifier) -> None:
    """Replaces the verifier."""
    await store.query(
        WRITE,
        algorithm=verifier.algorithm,
        version=verifier.version,
        digest=verifier.digest,
        created_at=verifier.created_at,
    )


DELETE = "DELETE auth_state:token RETURN BEFORE;"


async def delete_verifier(store: Store) -> bool:
    """Removes the verifier; False when there was none."""
    return bool(await store.first(DELETE))
