"""What a grade may do."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend


class GateRow(BaseModel):
    """An action and the least grade that code demands for it."""

    action: str
    grade: str
    check: str
    path: str
    line: int
    certain: bool = Field(
        description="False where code only filters or branches: whether that is a refusal needs a person."
    )


class GradeResult(BaseModel):
    """Levels (a higher one may more), gates, and by grade the actions that certain gates block."""

    enum: str
    levels: dict[str, int]
    gates: list[GateRow]
    blocked: dict[str, list[str]]


async def archon_grade_authority(
    ctx: Ctx,
    grade: Annotated[str | None, Field(description="Only this grade, like MEMBER.", max_length=100)] = None,
    enum_name: Annotated[str, Field(description="The enum of grades.", max_length=100)] = "GradeType",
    subpath: Annotated[str, Field(description="Only code below this folder.", max_length=500)] = "",
) -> GradeResult:
    """What each grade of an enum is blocked from, by complement over the permission gates in code."""
    body = await backend(ctx).get(ctx, "/code/grades", {"enum_name": enum_name, "subpath": subpath})
    blocked = {name: actions for name, actions in body["blocked"].items() if grade is None or name == grade}
    return GradeResult(
        enum=body["enum"], levels=body["levels"], gates=[GateRow(**gate) for gate in body["gates"]], blocked=blocked
    )


TOOL: Final = Tool(archon_grade_authority, "What a grade may do")
