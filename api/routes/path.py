"""`GET /path`: how work gets from one entity to another."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from api.context import Context, Reader
from api.problems import responses
from api.render_answer import path_json
from api.schemas_answer import PathOut, Text, namespaces_of, time_range
from nexus.model.document import Classification
from nexus.ports.answers import GraphReader, GraphRequest

ROUTER = APIRouter(tags=["graph"])


@ROUTER.get("/path", response_model=PathOut, responses=responses(404))
def path(
    context: Context,
    reader: Reader,
    source: Annotated[Text, Query(alias="from", min_length=1, max_length=500)],
    target: Annotated[Text, Query(alias="to", min_length=1, max_length=500)],
    layer: Literal["observed", "designed", "both"] = "both",
    environment: Annotated[Text | None, Query(max_length=200)] = None,
    namespace: Annotated[Text | None, Query(max_length=200)] = None,
    clearance: Classification | None = None,
    start: Annotated[datetime | None, Query(description="Only telemetry from here on.")] = None,
    end: Annotated[datetime | None, Query(description="Only telemetry up to here.")] = None,
) -> dict[str, Any]:
    """The shortest ways (at most three) along which work flows: calls, publishing, and topics to their consumers."""
    request = GraphRequest(
        reader.tenant,
        reader.lowered(clearance),
        source,
        target,
        namespaces_of(reader, namespace),
        environment,
        layer=layer,
        window=time_range(start, end),
    )
    return path_json(context.services.get(GraphReader).path(request))
