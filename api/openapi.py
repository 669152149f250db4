"""The description of the whole surface: what is the same for every operation is said here once, as it is returned."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.auth import OPEN_PATHS, SIGN_IN
from api.problems import responses

Json = dict[str, Any]
# Every operation: no token, too little of one, a parameter that makes no sense, too fast, something needed that does not answer.
COMMON = (401, 403, 422, 429, 503)
WITH_BODY = (400, 413)
# What FastAPI adds by itself and this application never sends.
_UNSENT = frozenset({"HTTPValidationError", "ValidationError"})


def describe(app: FastAPI) -> Json:
    """OpenAPI 3.1 of the application; made once."""
    if app.openapi_schema:
        return app.openapi_schema
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        separate_input_output_schemas=False,
    )
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _complete(operation, method, path)
    components = document.setdefault("components", {})
    components["schemas"] = {
        name: schema for name, schema in components.get("schemas", {}).items() if name not in _UNSENT
    }
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "description": "A token of `nexus auth create`."}
    }
    app.openapi_schema = document
    return document


def _complete(operation: Json, method: str, path: str) -> None:
    """Problems instead of FastAPI's own 422, and the token, where one is needed."""
    sent = operation["responses"]
    operation["responses"] = sent = {
        status: described for status, described in sent.items() if not (status == "422" and _by_framework(described))
    }
    closed = path not in OPEN_PATHS
    wanted = COMMON if closed else (503,)
    if "requestBody" in operation:
        wanted = (*wanted, *WITH_BODY)
    for status, described in responses(*wanted).items():
        sent.setdefault(str(status), described)
    if closed and (path, method.upper()) != SIGN_IN:
        operation["security"] = [{"bearer": []}]


def _by_framework(described: Json) -> bool:
    return "application/json" in described.get("content", {})
