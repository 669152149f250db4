"""Find the right name."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend
from api.tools._shapes import EntityRow, entity_row


class SuggestResult(BaseModel):
    """Names, best first."""

    entities: list[EntityRow]


async def nexus_suggest(
    ctx: Ctx,
    query: Annotated[str, Field(description="Part of a name, or how somebody calls it.", max_length=200)],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    tenant: Annotated[str | None, Field(description="Ignored: the token decides.")] = None,
) -> SuggestResult:
    """Services, databases and topics whose name or alias begins with, contains or resembles the text. Use it where another tool says that a name is unknown or ambiguous."""
    del tenant
    body = await backend(ctx).get(ctx, "/suggest", {"text": query, "limit": limit})
    return SuggestResult(entities=[entity_row(e) for e in body["entities"]])


TOOL: Final = Tool(nexus_suggest, "Find a name")
