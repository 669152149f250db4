"""One edge in full."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend
from api.tools._shapes import EdgeRow, edge_row


class EdgeResult(BaseModel):
    """An edge with its history, traces that show it, and claims."""

    edge: EdgeRow
    exemplars: list[dict[str, Any]] = Field(
        description="Traces: outcome (error, slowest, ordinary), trace_id, span_id, duration_ms."
    )
    series: list[dict[str, Any]] = Field(description="Measures by step, oldest first.")
    claims: list[dict[str, Any]] = Field(description="What documents say, with place and quote.")
    trace_query: dict[str, Any] | None


async def nexus_edge(
    ctx: Ctx,
    rid: Annotated[str, Field(description="The rid of an edge from another tool.", min_length=1, max_length=200)],
    step: Literal["1m", "1h", "1d"] = "1h",
    points: Annotated[int, Field(ge=0, le=500, description="The newest points of the history.")] = 48,
) -> EdgeResult:
    """History, exemplar traces, claims and the trace query of one dependency. Ask for it once you know which edge matters."""
    body = await backend(ctx).get(ctx, f"/edges/{quote(rid, safe='')}", {"step": step})
    body = body.get("edge", body)
    series = body.get("series") or []
    return EdgeResult(
        edge=edge_row(body),
        exemplars=body.get("exemplars") or [],
        series=series[-points:] if points else [],
        claims=body.get("claims") or [],
        trace_query=body.get("trace_query"),
    )


TOOL: Final = Tool(nexus_edge, "One dependency in full")
