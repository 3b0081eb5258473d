"""The life of the daemon: its socket, its HTTP front, its registry file."""
