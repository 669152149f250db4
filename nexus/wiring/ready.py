"""The line that says a process is up."""

from __future__ import annotations

import sys

from nexus.wiring.runtime import Runtime


def announce(runtime: Runtime) -> None:
    """Print `ready` with the addresses, once every role has started."""
    settings = runtime.settings
    scheme = "https" if settings.http.tls_cert else "http"
    sys.stdout.write(
        f"ready  pages and API {scheme}://{settings.http.address}  OTLP/gRPC {settings.otlp.grpc}  OTLP/HTTP {settings.otlp.http}\n"
    )
    sys.stdout.flush()
