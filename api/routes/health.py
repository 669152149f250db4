"""`/healthz` (the process answers) and `/readyz` (it can do its work)."""

from __future__ import annotations

from fastapi import APIRouter

from api.context import Context
from nexus.errors import StoreUnavailable

ROUTER = APIRouter(tags=["health"])


@ROUTER.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@ROUTER.get("/readyz")
def readyz(context: Context) -> dict[str, str]:
    """Every role of this process has started and the database answers; 503 with the reason where that is not so."""
    if not context.started():
        raise StoreUnavailable("still starting")
    context.services.database.ping()
    return {"status": "ready"}
