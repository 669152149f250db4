"""The value that code enforces."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend


class ValueRow(BaseModel):
    """A constant or limit, as the code was last indexed."""

    name: str
    value: str
    rule: str = Field(description="constant or annotation.")
    path: str
    line: int
    language: str


class ClaimValueResult(BaseModel):
    """Values; none means not known, and is no statement about the value."""

    values: list[ValueRow]
    known: bool


async def archon_claim_value(
    ctx: Ctx,
    concept: Annotated[
        str,
        Field(
            description="What is limited or set, like `items per order` or MAX_RETRIES.", min_length=1, max_length=200
        ),
    ],
    classification_max: Annotated[
        Literal["PUBLIC", "INTERNAL", "RESTRICTED"], Field(description="Can only lower what the token may see.")
    ] = "INTERNAL",
    tenant: Annotated[str | None, Field(description="Ignored: the token decides.")] = None,
) -> ClaimValueResult:
    """The value of a limit or constant, from code constants and validation annotations (Java, Kotlin, Python, Go, TypeScript), with file and line."""
    del tenant
    body = await backend(ctx).get(ctx, "/code/values", {"concept": concept, "clearance": classification_max})
    found = [ValueRow(**value) for value in body["values"]]
    return ClaimValueResult(values=found, known=bool(found))


TOOL: Final = Tool(archon_claim_value, "Value that code enforces")
