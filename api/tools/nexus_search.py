"""Search passages."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend
from api.tools._shapes import PassageRow, passage_row


class SearchResult(BaseModel):
    """Passages, best first."""

    passages: list[PassageRow]
    weak: bool = Field(description="True where nothing fits closely.")
    route_used: str
    degraded: list[str]


async def nexus_search(
    ctx: Ctx,
    query: Annotated[str, Field(description="Words to look for, Korean or English.", min_length=1, max_length=4000)],
    top_k: Annotated[int, Field(ge=1, le=100)] = 8,
    route: Literal["auto", "hybrid_only", "keyword_only", "vector_only", "hybrid_then_graph"] = "auto",
    namespace: str | None = None,
    clearance: Annotated[
        Literal["PUBLIC", "INTERNAL", "RESTRICTED"] | None, Field(description="Can only lower what the token may see.")
    ] = None,
    tenant: Annotated[str | None, Field(description="Ignored: the token decides.")] = None,
) -> SearchResult:
    """Find passages of documents (architecture notes, runbooks, specifications). For a question rather than a search use nexus_answer."""
    del tenant
    body = await backend(ctx).post(
        ctx, "/search", {"query": query, "top_k": top_k, "route": route, "namespace": namespace, "clearance": clearance}
    )
    return SearchResult(
        passages=[passage_row(p) for p in body["results"]],
        weak=bool(body["fit"]["weak"]),
        route_used=body["route_used"],
        degraded=body["degraded"],
    )


TOOL: Final = Tool(nexus_search, "Search documents")
