"""The store façade: one SurrealDB handle a process, raw SurrealQL with bound parameters, typed errors.

Nothing outside this package imports SurrealDB's client or knows whether the database is embedded or remote.
"""

from palace.store.connection import (
    Fragment,
    RecordExists,
    Store,
    TransactionRefused,
    current,
    install,
    on_loop,
    open_embedded,
    start_on_loop,
)
from palace.store.remote import Server, SignInRefused, StoreUnreachable, open_remote

__all__ = [
    "Fragment",
    "RecordExists",
    "Server",
    "SignInRefused",
    "Store",
    "StoreUnreachable",
    "TransactionRefused",
    "current",
    "install",
    "on_loop",
    "open_embedded",
    "open_remote",
    "start_on_loop",
]
