"""The one shape of a refusal over HTTP."""

from __future__ import annotations

import logging

from django.http import JsonResponse

from palace.errors import MemCastleError

logger = logging.getLogger("memcastle.api")


def error_response(error: MemCastleError) -> JsonResponse:
    """The body `{error, code, help}` with the error's own status; logged with its code."""
    level = logging.ERROR if error.status >= 500 else logging.WARNING
    logger.log(level, "request refused", extra={"code": error.code, "status": error.status})
    return JsonResponse(error.body(), status=error.status)
