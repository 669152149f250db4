"""State of the system."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, Field

from api.tools._backend import Ctx, Tool, backend


class StatusResult(BaseModel):
    """What `GET /status` says."""

    status: dict[str, Any] = Field(description="Sources, gaps, lag, documents, data quality.")


async def nexus_status(ctx: Ctx) -> StatusResult:
    """Whether telemetry is fresh and complete: look here before you conclude from something that is absent."""
    return StatusResult(status=await backend(ctx).get(ctx, "/status"))


TOOL: Final = Tool(nexus_status, "State of the system")
