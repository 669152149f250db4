"""The OTLP receiver."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import Field

from nexus.settings.base import Address, Duration, Section


class OtlpSettings(Section):
    """OTLP over gRPC and HTTP."""

    grpc: Address = Field("127.0.0.1:4317", description="Where OTLP/gRPC listens.")
    http: Address = Field("127.0.0.1:4318", description="Where OTLP/HTTP listens.")
    auth: Literal["none", "token"] = Field(
        "none", description="`token`: every export needs a bearer token, which also gives the tenant."
    )
    max_request_bytes: int = Field(
        64 * 1024 * 1024, ge=1024, le=512 * 1024 * 1024, description="Largest request, before and after decompression."
    )
    max_in_flight_bytes: int = Field(
        512 * 1024 * 1024,
        ge=1024 * 1024,
        description="Bytes of all requests that are received or wait for the log; above, senders are asked to retry.",
    )
    max_concurrent_reads: int = Field(
        64, ge=1, description="gRPC messages that are read at a time; others wait in their senders."
    )
    max_connections: int = Field(
        4096, ge=1, description="Open OTLP/HTTP connections; above, the oldest idle one is closed."
    )
    max_connection_age: Duration = Field(
        timedelta(minutes=30), description="Age at which a gRPC connection is closed, so that load spreads again."
    )
    request_timeout: Duration = Field(
        timedelta(seconds=30), description="Longest time in which one gRPC request must arrive."
    )
    keep_attributes: tuple[str, ...] = Field(
        (), description="Span attributes to keep beside those that edges need, as a JSON list."
    )
    tls_cert: Path | None = Field(None, description="PEM certificate chain; with `tls_key` turns on TLS on both ports.")
    tls_key: Path | None = Field(None, description="PEM private key.")
    tls_client_ca: Path | None = Field(
        None,
        description="PEM certificates of authorities; senders must then present a certificate signed by one (mTLS).",
    )
    workers: int = Field(
        1,
        ge=1,
        le=64,
        description="Receiving processes that share the ports; 1 = receive in the service's own process.",
    )
