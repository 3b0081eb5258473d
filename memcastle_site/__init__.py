"""MemCastle: a long-running memory server for AI coding agents."""

__version__ = "0.1.0"
