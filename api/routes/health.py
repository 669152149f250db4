"""`/healthz` (the process answers) and `/readyz` (it can do its work)."""

from __future__ import annotations

from fastapi import APIRouter

from api.context import Context

ROUTER = APIRouter(tags=["health"])


@ROUTER.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@ROUTER.get("/readyz")
def readyz(context: Context) -> dict[str, str]:
    """The database answers; 503 with the reason where it does not."""
    context.services.database.ping()
    return {"status": "ready"}
