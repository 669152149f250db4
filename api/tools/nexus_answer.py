"""Answer a question."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from api.tools._answers import AnswerResult, answer_result
from api.tools._backend import Ctx, Tool, backend


async def nexus_answer(
    ctx: Ctx,
    query: Annotated[
        str,
        Field(
            description="A question in Korean or English, naming services as people name them.",
            min_length=1,
            max_length=4000,
        ),
    ],
    top_k: Annotated[int, Field(ge=1, le=100)] = 10,
    namespace: str | None = None,
    environment: str | None = None,
    clearance: Annotated[
        Literal["PUBLIC", "INTERNAL", "RESTRICTED"] | None, Field(description="Can only lower what the token may see.")
    ] = None,
    tenant: Annotated[str | None, Field(description="Ignored: the token decides.")] = None,
) -> AnswerResult:
    """Answer from documents and telemetry with checked citations.

    Who calls X, what does X call, what changed since yesterday, is this documented, what breaks if X fails, how is X doing, and questions to the documents.
    """
    del tenant
    body = {"query": query, "top_k": top_k, "namespace": namespace, "environment": environment, "clearance": clearance}
    return answer_result(await backend(ctx).post(ctx, "/search/answer", body))


TOOL: Final = Tool(nexus_answer, "Answer with evidence")
