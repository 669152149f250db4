"""The OTLP receiver."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from nexus.settings.base import Address, Section


class OtlpSettings(Section):
    """OTLP over gRPC and HTTP."""

    grpc: Address = Field("127.0.0.1:4317", description="Where OTLP/gRPC listens.")
    http: Address = Field("127.0.0.1:4318", description="Where OTLP/HTTP listens.")
    auth: Literal["none", "token"] = Field("none", description="`token`: every export needs a bearer token, which also gives the tenant.")
    max_request_bytes: int = Field(64 * 1024 * 1024, ge=1024, description="Largest request, before and after decompression.")
