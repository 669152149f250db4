"""Sections of the core. Each component's own section has a file of its own beside this one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field, SecretStr

from nexus.settings.base import Address, Duration, Section


class DatabaseSettings(Section):
    """PostgreSQL 16 or newer with pgvector. `nexus up` starts an embedded one where no URL is given."""

    url: SecretStr | None = Field(None, description="postgresql://... of a server; required by `nexus serve`.")
    read_url: SecretStr | None = Field(
        None,
        description="The same of a read replica: the API lists edges and services from it. What they show is as old as the replica.",
    )
    pool_size: int = Field(10, ge=1, le=200, description="Connections that one process keeps at most.")
    statement_timeout: Duration = Field(timedelta(seconds=60), description="Longest time one statement may take.")


class HttpSettings(Section):
    """The API and the pages."""

    address: Address = Field("127.0.0.1:8000", description="Where the API and the pages listen.")
    max_body_bytes: int = Field(16 * 1024 * 1024, ge=1024, description="Largest request body; 413 above.")
    max_requests_per_s: float = Field(
        500.0,
        gt=0,
        description="Requests a second of one caller, twice as many at once; above, 429 with a time to retry.",
    )
    tls_cert: Path | None = Field(None, description="PEM certificate chain; with `tls_key` turns on TLS.")
    tls_key: Path | None = Field(None, description="PEM private key.")
    local_principal: bool | None = Field(
        None, description="Give requests from loopback an INTERNAL principal (default: only in `nexus up`)."
    )


class DocsSettings(Section):
    """Folders that may be ingested."""

    roots: tuple[Path, ...] = Field(
        (),
        description="Folders of documents (`nexus up --docs` sets them): the role `ingest` ingests them at start, and `POST /ingest` takes no path outside of them.",
    )
    watch: bool = Field(True, description="Whether the role `ingest` follows changes in them.")


class TracingSettings(Section):
    """Where a trace query can be opened."""

    grafana_url: str = Field(
        "", description="Base URL of a Grafana with a Tempo data source; makes links for trace queries."
    )
    grafana_datasource: str = Field("tempo", description="UID of that data source.")
