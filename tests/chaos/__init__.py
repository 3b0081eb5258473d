"""Chaos: real daemons that are killed, stopped and frozen while clients work, and what must hold afterwards."""
