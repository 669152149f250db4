"""Declare that a document is replaced."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend


class SupersedeResult(BaseModel):
    """The document that is no longer found, and the one in its place."""

    result: dict[str, Any]


async def nexus_supersede(
    ctx: Ctx,
    old_ref: Annotated[
        str, Field(description="The document that is replaced: rid or URI.", min_length=1, max_length=2000)
    ],
    new_ref: Annotated[str, Field(description="The document in its place: rid or URI.", min_length=1, max_length=2000)],
    why: Annotated[str, Field(description="Reason, kept with the decision.", max_length=1000)] = "declared over MCP",
    tenant: Annotated[str | None, Field(description="Ignored: the token decides.")] = None,
) -> SupersedeResult:
    """Destructive for readers: the old document disappears from search and answers. Needs a token that may manage; only on a person's explicit word."""
    del tenant
    return SupersedeResult(
        result=await backend(ctx).post(ctx, "/documents/supersede", {"old": old_ref, "new": new_ref, "why": why})
    )


TOOL: Final = Tool(nexus_supersede, "Replace a document", destructive=True)
