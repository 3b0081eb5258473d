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
)

__all__ = ["Fragment", "RecordExists", "Store", "TransactionRefused", "current", "install", "on_loop", "open_embedded"]
