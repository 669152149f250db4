"""Where the service's own telemetry goes."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from nexus.settings.base import Section, host_port
from nexus.settings.source_tempo import http_url, secret_headers


def _listening(value: str) -> str:
    if value:
        host_port(value)
    return value


class TelemetrySettings(Section):
    """The service's own traces and metrics, sent by OTLP."""

    endpoint: Annotated[str, AfterValidator(http_url)] = Field(
        "", description="Base URL of an OTLP/HTTP receiver, without `/v1/traces` (http://collector:4318); empty = off."
    )
    headers: Annotated[SecretStr, AfterValidator(secret_headers)] = Field(
        SecretStr(""), description="Extra headers with each export: Name=value,Name=value."
    )
    sample: float = Field(1.0, ge=0, le=1, description="Share of traces that are recorded.")
    listen: Annotated[str, AfterValidator(_listening)] = Field(
        "",
        description="`HOST:PORT` where this process answers `/metrics`, `/healthz` and `/readyz` without a token: for scrapes and probes of processes without the API; empty = off.",
    )
    metrics: bool = Field(default=False, description="Send the metrics of `/metrics` there as well, every minute.")
