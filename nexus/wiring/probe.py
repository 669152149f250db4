"""`/metrics`, `/healthz` and `/readyz` of a process that has no API: for scrapes and probes of receivers and aggregators."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from nexus.errors import ConfigError
from nexus.settings.base import host_port
from nexus.telemetry import REGISTRY

# A client that says nothing gives its thread back.
TIMEOUT_S = 5.0


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)


class _Handler(BaseHTTPRequestHandler):
    timeout = TIMEOUT_S

    def do_GET(self) -> None:
        match self.path.split("?")[0]:
            case "/metrics":
                self._answer(HTTPStatus.OK, generate_latest(REGISTRY), CONTENT_TYPE_LATEST)
            case "/healthz":
                self._answer(HTTPStatus.OK, b"ok\n")
            case "/readyz":
                ready = REGISTRY.get_sample_value("nexus_ready") == 1
                self._answer(
                    HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE,
                    b"ready\n" if ready else b"starting or stopping\n",
                )
            case _:
                self._answer(HTTPStatus.NOT_FOUND, b"/metrics, /healthz, /readyz\n")

    def _answer(self, status: HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of each probe."""


def start_probe(address: str) -> Callable[[], None]:
    """Answer on an address (empty: nowhere); the call that ends it. ConfigError where the port is taken."""
    if not address:
        return lambda: None
    try:
        server = _Server(*host_port(address))
    except OSError as error:
        raise ConfigError(
            f"NEXUS_TELEMETRY__LISTEN: cannot listen on {address}: {error.strerror}; choose another address"
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="probe", daemon=True)
    thread.start()

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop


__all__ = ["start_probe"]
