"""`GET /why`: why does A call B, as a whole answer without having to phrase a question."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from api.context import Context, Reader
from api.render_answer import answer_json
from api.schemas_answer import AnswerOut, Text, namespaces_of, time_range
from nexus.model.document import Classification
from nexus.ports.answers import Answerer, AnswerRequest

ROUTER = APIRouter(tags=["answers"])


@ROUTER.get("/why", response_model=AnswerOut)
def why(
    context: Context,
    reader: Reader,
    source: Annotated[
        Text, Query(alias="from", min_length=1, max_length=500, description="Who depends: name, alias or rid.")
    ],
    target: Annotated[Text, Query(alias="to", min_length=1, max_length=500, description="On what.")],
    language: Literal["en", "ko"] = "en",
    environment: Annotated[Text | None, Query(max_length=200)] = None,
    namespace: Annotated[Text | None, Query(max_length=200)] = None,
    clearance: Classification | None = None,
    start: Annotated[datetime | None, Query(description="Only telemetry from here on.")] = None,
    end: Annotated[datetime | None, Query(description="Only telemetry up to here.")] = None,
) -> dict[str, Any]:
    """The operations that cause the dependency, documents that say so, since when, how often, how well, and whether it is documented."""
    query = (
        f"왜 `{source}`이(가) `{target}`를 호출하나요?" if language == "ko" else f"why does `{source}` call `{target}`?"
    )
    request = AnswerRequest(
        query,
        reader.tenant,
        reader.lowered(clearance),
        namespaces_of(reader, namespace),
        environment=environment,
        window=time_range(start, end),
        ends=(source, target),
    )
    return answer_json(context.services.get(Answerer).answer(request))
