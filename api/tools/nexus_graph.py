"""The neighbourhood of an entity."""

from __future__ import annotations

from typing import Annotated, Final, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend
from api.tools._shapes import EdgeRow, EntityRow, edge_row, entity_row


class GraphResult(BaseModel):
    """Edges around an entity, nearest and busiest first. `more` were left out: narrow by layer or hops."""

    entity: EntityRow
    edges: list[EdgeRow]
    more: int
    truncated: bool


async def nexus_graph(
    ctx: Ctx,
    entity: Annotated[str, Field(description="Name, alias or rid.", min_length=1, max_length=500)],
    hops: Annotated[int, Field(ge=1, le=2)] = 1,
    layer: Literal["observed", "designed", "both"] = "both",
    environment: str | None = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 30,
    tenant: Annotated[str | None, Field(description="Ignored: the token decides.")] = None,
) -> GraphResult:
    """Callers and dependencies of a service, database or topic, in documents and in telemetry."""
    del tenant
    path = f"/graph/{quote(entity, safe='/')}"
    body = await backend(ctx).get(ctx, path, {"hops": hops, "layer": layer, "environment": environment})
    edges = [edge_row(e) for e in body["edges"]]
    return GraphResult(
        entity=entity_row(body["entity"]),
        edges=edges[:limit],
        more=max(0, len(edges) - limit),
        truncated=body["truncated"],
    )


TOOL: Final = Tool(nexus_graph, "Neighbourhood of an entity")
