"""Benchmarks: run with `make bench`. They print figures and never fail on them."""
