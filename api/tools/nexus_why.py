"""Why does A call B."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from api.tools._answers import AnswerResult, answer_result
from api.tools._backend import Ctx, Tool, backend


async def nexus_why(
    ctx: Ctx,
    source: Annotated[str, Field(description="Who depends: name, alias or rid.", min_length=1, max_length=500)],
    target: Annotated[str, Field(description="On what: name, alias or rid.", min_length=1, max_length=500)],
    environment: str | None = None,
    language: Literal["en", "ko"] = "en",
) -> AnswerResult:
    """Why one service calls another.

    The operations that cause it, the documents that say so, since when, how often, how well, and whether it is documented.
    Where there is no direct dependency it shows the way between them.
    """
    params = {"from": source, "to": target, "environment": environment, "language": language}
    return answer_result(await backend(ctx).get(ctx, "/why", params))


TOOL: Final = Tool(nexus_why, "Why does A call B")
