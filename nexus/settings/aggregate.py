"""Pairing and rollup."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from nexus.settings.base import Duration, Section

# Requests that are telemetry about telemetry, or checks of health (observed-edges.md rule 11).
INFRASTRUCTURE_RPC = ("opentelemetry.proto.collector.", "jaeger.api_v2.", "grpc.health.v1.")
INFRASTRUCTURE_PATHS = (
    "/v1/traces",
    "/v1/metrics",
    "/v1/logs",
    "/v1development/profiles",
    "/api/v2/spans",
    "/api/traces",
    "/loki/api/v1/push",
    "/api/v1/push",
    "/api/v1/write",
    "/ingest",
    "/push.v1.PusherService/Push",
    "/health",
    "/healthz",
    "/livez",
    "/readyz",
    "/live",
    "/ready",
    "/-/healthy",
    "/-/ready",
    "/actuator/health",
    "/metrics",
)


class PairingSettings(Section):
    """Distances in event time within which two spans can be ends of one call (observed-edges.md section 4)."""

    call_horizon: Duration = Field(timedelta(minutes=15), description="Between the ends of a call.")
    link_horizon: Duration = Field(timedelta(hours=24), description="Between the ends of a message.")
    clock_skew: Duration = Field(
        timedelta(milliseconds=10),
        description="How far a server span may stick out of its client's when a lost parent is repaired.",
    )
    infrastructure_rpc: tuple[str, ...] = Field(
        INFRASTRUCTURE_RPC,
        description="Beginnings of RPC methods that make an edge one of telemetry or health checks (JSON list).",
    )
    infrastructure_paths: tuple[str, ...] = Field(
        INFRASTRUCTURE_PATHS, description="HTTP paths that do the same (JSON list)."
    )


class AggregateSettings(Section):
    """When windows are rolled up and kept."""

    interval: Duration = Field(timedelta(seconds=1), description="Pause between two looks at the span log.")
    max_spans: int = Field(
        1_000_000, ge=1000, description="Spans that one transaction rolls up at most; memory grows with it."
    )
    max_edges: int = Field(
        100_000,
        ge=100,
        description="Edges and services of one tenant; beyond, new ones fold into `(other)` and `GET /status` names the offender.",
    )
    settle: Duration = Field(
        timedelta(hours=6),
        description="A window that nothing touched for so long is settled: its spans are let go, and spans that come later are late.",
    )
    keep_minutes: Duration = Field(
        timedelta(hours=48), description="How long rows by minute are kept; those of hours and days stay."
    )
    keep_hours: Duration = Field(timedelta(days=30), description="How long rows by hour are kept.")
    keep_days: Duration = Field(timedelta(days=400), description="How long rows by day are kept.")
