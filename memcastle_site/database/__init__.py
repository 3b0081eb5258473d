"""The database endpoint: a second listener that speaks SurrealDB's WebSocket protocol on the palace's own database."""
