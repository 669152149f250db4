"""From errors to RFC 9457 problem details."""

from __future__ import annotations

import math
from typing import Any

from starlette.responses import JSONResponse

from nexus import errors

STATUS: dict[type[errors.NexusError], int] = {
    errors.ConfigError: 500,
    errors.InUse: 409,
    errors.MalformedSpans: 400,
    errors.MalformedDocument: 422,
    errors.BadQuestion: 422,
    errors.TooLarge: 413,
    errors.NotFound: 404,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.Conflict: 409,
    errors.SourceUnavailable: 503,
    errors.StoreUnavailable: 503,
    errors.ModelUnavailable: 503,
    errors.Overloaded: 503,
    errors.TooManyRequests: 429,
    errors.InvariantBroken: 500,
}


class ProblemResponse(JSONResponse):
    """`application/problem+json`."""

    media_type = "application/problem+json"


def status_of(error: errors.NexusError) -> int:
    """The status of the nearest class in the table."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def problem_response(error: errors.NexusError) -> ProblemResponse:
    """The response to an error. Bugs show their code only; what happened is in the log."""
    status = status_of(error)
    detail = str(error) if status != 500 else "an internal error; it has been logged"
    headers: dict[str, str] = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, errors.DependencyError):
        headers["Retry-After"] = str(math.ceil(error.retry_after) if isinstance(error, errors.Overloaded) else 5)
    body = {
        "type": f"urn:nexus:problem:{error.code}",
        "title": error.code.replace("_", " "),
        "status": status,
        "detail": detail,
        "code": error.code,
    }
    return ProblemResponse(body, status_code=status, headers=headers)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides success, for its OpenAPI description."""
    schema = {
        "type": "object",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            name: {"type": "integer" if name == "status" else "string"}
            for name in ("type", "title", "status", "detail", "code")
        },
    }
    titles = {
        400: "The request is no valid JSON.",
        401: "No valid token.",
        403: "The token lacks a capability or does not reach this.",
        404: "Nothing that this reader may see.",
        409: "It contradicts the present state.",
        413: "The body is too large.",
        422: "The request makes no sense; the problem names the field.",
        429: "This caller asks too fast; `Retry-After` says when to ask again.",
        503: "Something needed does not answer; try again.",
    }
    return {
        status: {
            "description": titles.get(status, "A problem."),
            "content": {"application/problem+json": {"schema": schema}},
        }
        for status in statuses
    }
