"""`GET /metrics` in the Prometheus text format. Numbers of the process, none of a tenant."""

from __future__ import annotations

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.context import Reader
from nexus.telemetry import REGISTRY

ROUTER = APIRouter(tags=["operations"])


@ROUTER.get("/metrics", response_class=Response)
def metrics(_: Reader) -> Response:
    """Metrics of this process."""
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
