"""`GET /graph/{entity}`: the neighbourhood of a name, alias or rid in both layers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from api.context import Context, Reader
from api.problems import responses
from api.render_answer import graph_json
from api.schemas_answer import GraphOut, Text, namespaces_of, time_range
from nexus.model.document import Classification
from nexus.ports.answers import GraphReader, GraphRequest

ROUTER = APIRouter(tags=["graph"])


@ROUTER.get("/graph/{entity:path}", response_model=GraphOut, responses=responses(404))
def graph(
    context: Context,
    reader: Reader,
    entity: Annotated[
        Text, Path(description="Name, alias or rid; names may hold slashes.", min_length=1, max_length=500)
    ],
    hops: Annotated[int, Query(ge=1, le=2)] = 1,
    layer: Literal["observed", "designed", "both"] = "both",
    environment: Annotated[Text | None, Query(max_length=200)] = None,
    namespace: Annotated[Text | None, Query(max_length=200, description="Document namespace.")] = None,
    clearance: Annotated[Classification | None, Query(description="Can only lower the caller's own.")] = None,
    start: Annotated[datetime | None, Query(alias="from")] = None,
    end: Annotated[datetime | None, Query(alias="to")] = None,
) -> dict[str, Any]:
    """Edges within `hops`, nearest and busiest first. An ambiguous name is a 422 that lists what it can mean."""
    request = GraphRequest(
        reader.tenant,
        reader.lowered(clearance),
        entity,
        namespaces=namespaces_of(reader, namespace),
        environment=environment,
        hops=hops,
        layer=layer,
        window=time_range(start, end),
    )
    return graph_json(context.services.get(GraphReader).neighbourhood(request))
