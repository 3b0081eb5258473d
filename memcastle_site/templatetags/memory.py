"""Template filters of the dashboard."""

from __future__ import annotations

from django import template

from palace.domain.clock import Timestamp

register = template.Library()


@register.filter
def moment(timestamp: Timestamp) -> str:
    """A canonical instant as people read it, in UTC to the second."""
    return f"{timestamp[:10]} {timestamp[11:19]} UTC"
