"""The outermost layer of the daemon: what every request passes before Django or MCP sees it."""

from memcastle_site.gate.layer import Authenticator, Gate, bearer_token

__all__ = ["Authenticator", "Gate", "bearer_token"]
