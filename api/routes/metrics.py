"""`GET /metrics` in the Prometheus text format: numbers of the process, and of the newest drift run for who may know them."""

from __future__ import annotations

import re
from typing import Final

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.context import Context, Reader
from nexus.ports.drift import DriftFigures
from nexus.telemetry import REGISTRY

ROUTER = APIRouter(tags=["operations"])
_DRIFT: Final = re.compile(rb"^(?:# (?:HELP|TYPE) )?nexus_drift_.*\n", re.MULTILINE)


@ROUTER.get("/metrics", response_class=Response)
def metrics(context: Context, caller: Reader) -> Response:
    """Metrics of this process, and the newest stored drift run (not for other tenants, lower clearances, or tokens of single namespaces)."""
    figures = context.services.get(DriftFigures)
    figures.refresh()
    text = generate_latest(REGISTRY)
    if not figures.within_reach(caller.tenant, caller.clearance, caller.namespaces):
        text = _DRIFT.sub(b"", text)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
