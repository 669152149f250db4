"""The Grafana Tempo poller."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from nexus.settings.base import Duration, Section


def http_url(value: str) -> str:
    """An http(s) URL or nothing."""
    parts = urlsplit(value)
    if value and (parts.scheme not in {"http", "https"} or not parts.hostname):
        msg = f"{value!r} is no http(s) URL"
        raise ValueError(msg)
    return value


def secret_headers(value: SecretStr) -> SecretStr:
    """What `header_pairs` reads."""
    header_pairs(value.get_secret_value())
    return value


def header_pairs(text: str) -> dict[str, str]:
    """Headers written as `Name=value,Name=value`; ValueError names a part that is none."""
    pairs: dict[str, str] = {}
    for place, part in enumerate(filter(None, (item.strip() for item in text.split(","))), 1):
        name, sep, content = part.partition("=")
        if not sep or not name.strip():
            # The part itself may be a secret.
            msg = f"part {place} is not Name=value"
            raise ValueError(msg)
        pairs[name.strip()] = content.strip()
    return pairs


class SourceTempoSettings(Section):
    """A Tempo to pull traces from."""

    url: Annotated[str, AfterValidator(http_url)] = Field(
        "", description="Base URL of Tempo's query API (http://tempo:3200); empty = no polling."
    )
    tenant: str = Field("default", min_length=1, description="Tenant in Nexus that the traces belong to.")
    org_id: str = Field("", description="Tenant in Tempo, sent as X-Scope-OrgID.")
    username: str = Field("", description="User of basic authentication.")
    password: SecretStr = Field(SecretStr(""), description="Password of basic authentication.")
    token: SecretStr = Field(SecretStr(""), description="Bearer token; not together with `username`.")
    headers: Annotated[SecretStr, AfterValidator(secret_headers)] = Field(
        SecretStr(""), description="Extra headers with each request: Name=value,Name=value."
    )
    tls_ca: Path | None = Field(
        None, description="PEM file of the authorities that may sign Tempo's certificate (default: the system's)."
    )
    tls_cert: Path | None = Field(None, description="PEM certificate of this client; needs `tls_key`.")
    tls_key: Path | None = Field(None, description="PEM key of this client.")
    tls_verify: bool = Field(True, description="Check Tempo's certificate.")
    query: str = Field(
        "{}",
        min_length=1,
        description='TraceQL that selects the traces to read, such as { resource.service.namespace = "shop" }.',
    )
    interval: Duration = Field(timedelta(seconds=15), gt=timedelta(0), description="Pause between two polls.")
    lag: Duration = Field(
        timedelta(seconds=60),
        ge=timedelta(0),
        description="How far behind now to read: younger traces may not be searchable yet.",
    )
    overlap: Duration = Field(
        timedelta(minutes=5),
        ge=timedelta(0),
        description="Each range is read a second time after this, for traces that came late (0 = once only).",
    )
    window: Duration = Field(
        timedelta(seconds=60), ge=timedelta(seconds=1), description="Longest range that one search asks for."
    )
    limit: int = Field(2000, ge=1, description="Traces that one search asks for; a window that reaches it is halved.")
    concurrency: int = Field(8, ge=1, le=256, description="Traces that are fetched at the same time.")
    lookback: Duration = Field(
        timedelta(hours=1),
        ge=timedelta(0),
        description="How far back the first poll begins. Further back: `nexus tempo backfill`.",
    )
    timeout: Duration = Field(timedelta(seconds=30), gt=timedelta(0), description="Longest wait for an answer.")
    traces_per_window: int = Field(
        0,
        ge=0,
        description="Budget of traces for each window; above it, a reproducible sample of trace ids is read and its probability kept (0 = read all).",
    )
    max_trace_bytes: int = Field(
        256 * 1024 * 1024, ge=1024, description="Largest answer that is read; a larger trace is recorded as not read."
    )

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.username and self.token.get_secret_value():
            raise ValueError("username and token are two ways to authenticate; give one")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key belong together")
        return self
