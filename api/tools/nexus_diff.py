"""Drift between documents and telemetry."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend
from api.tools._shapes import FindingRow, finding_row


class DiffResult(BaseModel):
    """Totals of the newest run, and findings by rank."""

    run: dict[str, Any] | None
    totals: dict[str, Any]
    metrics: dict[str, Any]
    findings: list[FindingRow]
    next: str | None = Field(description="Cursor of the next page.")


async def nexus_diff(
    ctx: Ctx,
    flag_filter: Annotated[
        Literal["confirmed", "doc_only", "observed_only", "conflict"] | None, Field(description="Only this verdict.")
    ] = None,
    entity_filter: Annotated[str | None, Field(description="Only findings about this entity.")] = None,
    environment: str | None = None,
    min_severity: Literal["none", "low", "medium", "high"] | None = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 20,
    cursor: str | None = None,
    tenant: Annotated[str | None, Field(description="Ignored: the token decides.")] = None,
) -> DiffResult:
    """Where documents and telemetry disagree.

    Documented but not seen (doc_only), seen but not documented (observed_only), contradictions (conflict). Absence comes with what it rules out.
    """
    del tenant
    params = {
        "flag": flag_filter,
        "entity": entity_filter,
        "environment": environment,
        "min_severity": min_severity,
        "limit": limit,
        "cursor": cursor,
    }
    body = await backend(ctx).get(ctx, "/diff", params)
    return DiffResult(
        run=body.get("run"),
        totals=body.get("totals") or {},
        metrics=body.get("metrics") or {},
        findings=[finding_row(f) for f in body.get("findings", [])][:limit],
        next=body.get("next"),
    )


TOOL: Final = Tool(nexus_diff, "Drift report")
