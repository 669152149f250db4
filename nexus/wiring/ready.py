"""The line that says a process is up."""

from __future__ import annotations

import sys

from nexus.wiring.runtime import Runtime

NAMES = {"http": "pages and API", "grpc": "OTLP/gRPC", "otlp_http": "OTLP/HTTP"}


def announce(runtime: Runtime) -> None:
    """Print `ready` with the addresses, once every role has started."""
    listening = runtime.addresses
    if "http" in listening:
        scheme = "https" if runtime.settings.http.tls_cert else "http"
        listening = listening | {"http": f"{scheme}://{listening['http']}"}
    sys.stdout.write(
        "  ".join(["ready", *(f"{NAMES[name]} {listening[name]}" for name in NAMES if name in listening)]) + "\n"
    )
    sys.stdout.flush()
