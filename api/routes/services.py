"""`GET /services`: what each service reported about itself."""

from __future__ import annotations

from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Response

from api.context import Context, Json, Reader
from api.paging import MOST, Cursor, Limit, offset, part_of
from api.routes._observed import window_of
from nexus.model.render import coverage_json, window_json
from nexus.ports.observed import ObservedReader

ROUTER = APIRouter(tags=["observed"])


@ROUTER.get("/services", response_model=Json)
def services(
    context: Context,
    caller: Reader,
    environment: str | None = None,
    start: Annotated[str | None, Query(alias="from")] = None,
    end: Annotated[str | None, Query(alias="to")] = None,
    limit: Limit = MOST,
    cursor: Cursor = "",
    language: Literal["en", "ko"] = "en",
) -> Response:
    """Service rows with their counters, added up over the range, and what to fix in English or Korean."""
    window = window_of(start, end)
    reader = context.services.get(ObservedReader)
    first = offset(cursor)
    found = reader.services(caller.tenant, environment, window, slice(first, first + limit + 1), language)
    shown, following = part_of(found, first, limit)
    body = {
        "services": shown,
        "next": following,
        "window": window_json(window),
        "coverage": coverage_json(reader.coverage(caller.tenant, window), reader.covered(window)),
    }
    # A list is large: encoded at once, not value by value.
    return Response(orjson.dumps(body), media_type="application/json")
