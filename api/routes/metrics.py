"""`GET /metrics` in the Prometheus text format. Numbers of the process, none of a tenant."""

from __future__ import annotations

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.context import Context, Reader
from nexus.ports.drift import DriftFigures
from nexus.telemetry import REGISTRY

ROUTER = APIRouter(tags=["operations"])


@ROUTER.get("/metrics", response_class=Response)
def metrics(context: Context, _: Reader) -> Response:
    """Metrics of this process, and the newest stored drift run."""
    context.services.get(DriftFigures).refresh()
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
