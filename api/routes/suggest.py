"""`GET /suggest`: names that a text may mean."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from api.context import Context, Reader
from api.render_answer import entity_json
from api.schemas_answer import Text
from nexus.ports.answers import GraphReader, GraphRequest

ROUTER = APIRouter(tags=["graph"])


@ROUTER.get("/suggest")
def suggest(
    context: Context,
    reader: Reader,
    text: Annotated[Text, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> dict[str, list[dict[str, Any]]]:
    """Entities whose name or alias begins with, contains or resembles the text; best first."""
    found = context.services.get(GraphReader).suggest(
        GraphRequest(reader.tenant, reader.clearance, text, namespaces=reader.namespaces), limit
    )
    return {"entities": [entity_json(entity) for entity in found]}
