"""What jobs say to the rest of the process."""

from __future__ import annotations

from django.dispatch import Signal

job_queued = Signal()
"""Sent on the palace's loop after a job was put, or put back, into the queue. Receivers are plain functions."""
