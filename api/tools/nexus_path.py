"""Paths between two entities."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend
from api.tools._shapes import EdgeRow, edge_row


class PathResult(BaseModel):
    """Ways as names in order, and the edges on them. No path: `paths` is empty."""

    paths: list[list[str]]
    edges: list[EdgeRow]
    truncated: bool


async def nexus_path(
    ctx: Ctx,
    source: Annotated[str, Field(description="Where work begins: name, alias or rid.", min_length=1, max_length=500)],
    target: Annotated[str, Field(description="Where it ends.", min_length=1, max_length=500)],
    layer: Literal["observed", "designed", "both"] = "both",
    environment: str | None = None,
) -> PathResult:
    """The shortest ways along which work flows from one entity to another, through calls and topics."""
    body = await backend(ctx).get(
        ctx, "/path", {"from": source, "to": target, "layer": layer, "environment": environment}
    )
    return PathResult(
        paths=[[node["name"] for node in path["nodes"]] for path in body["paths"]],
        edges=[edge_row(e) for e in body["edges"]],
        truncated=body["truncated"],
    )


TOOL: Final = Tool(nexus_path, "Path from A to B")
