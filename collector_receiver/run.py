"""The receiver's shell: both transports on one intake; HTTP in the event loop that calls it, gRPC on a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from collector_receiver.budget import Budget
from collector_receiver.gate import Gate
from collector_receiver.intake import Intake, IntakeLimits, RawWriter
from collector_receiver.sources.otlp_grpc import GrpcOptions, OtlpGrpcServer, Tls
from collector_receiver.sources.otlp_http import HttpOptions, OtlpHttpServer
from nexus import telemetry
from nexus.errors import ConfigError
from nexus.model.principal import Principal
from nexus.ports.span_log import SpanLogWriter

GRACE = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class ReceiverOptions:
    """Everything that a receiver is told. `allowed` adds to the attribute names that are kept."""

    grpc: GrpcOptions
    http: HttpOptions
    intake: IntakeLimits = field(default_factory=IntakeLimits)
    max_in_flight_bytes: int = 512 * 1024 * 1024
    allowed: frozenset[str] = frozenset()


class Receiver:
    """One process's receiver. `find` looks tokens up; None lets everybody send."""

    def __init__(
        self,
        writer: RawWriter | SpanLogWriter,
        find: Callable[[str], Principal | None] | None,
        options: ReceiverOptions,
    ) -> None:
        self._budget = Budget(options.max_in_flight_bytes)
        self._intake = Intake(writer, self._budget, options.intake, options.allowed)
        gate = Gate(find)
        self._grpc = OtlpGrpcServer(self._intake, gate, options.grpc)
        self._http = OtlpHttpServer(self._intake, gate, options.http)
        telemetry.OTLP_BYTES_IN_FLIGHT.set_function(lambda: self._budget.used)

    @property
    def grpc_port(self) -> int:
        """The port that OTLP/gRPC got."""
        return self._grpc.port

    async def start(self, http_socket: socket.socket) -> None:
        """Listen on both ports. ConfigError where one cannot be had."""
        self._intake.start()
        self._grpc.start()
        await self._http.start(http_socket)

    async def stop(self, grace: timedelta = GRACE) -> None:
        """Take no more, answer what was taken."""
        await asyncio.gather(self._http.stop(grace), asyncio.to_thread(self._grpc.stop, grace))
        await asyncio.to_thread(self._intake.stop)


def read_tls(certificate: Path | None, key: Path | None, client_ca: Path | None) -> Tls | None:
    """The configured PEM files; None without a certificate. ConfigError names the setting of each that is missing."""
    problems = []
    if (certificate is None) != (key is None):
        problems.append("NEXUS_OTLP__TLS_CERT and NEXUS_OTLP__TLS_KEY must be given together")
    if client_ca is not None and certificate is None:
        problems.append("NEXUS_OTLP__TLS_CLIENT_CA needs NEXUS_OTLP__TLS_CERT")
    contents: list[bytes] = []
    for name, path in (("CERT", certificate), ("KEY", key), ("CLIENT_CA", client_ca)):
        try:
            contents.append(path.read_bytes() if path is not None else b"")
        except OSError as error:
            problems.append(f"NEXUS_OTLP__TLS_{name}: {path} cannot be read: {error.strerror}")
    if problems:
        raise ConfigError(problems)
    return Tls(contents[0], contents[1], contents[2] or None) if certificate is not None else None


def ssl_context(certificate: Path, key: Path, client_ca: Path | None) -> ssl.SSLContext:
    """TLS for the HTTP port. ConfigError where the files do not fit together."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
        if client_ca is not None:
            context.load_verify_locations(client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (ssl.SSLError, OSError) as error:
        msg = f"NEXUS_OTLP__TLS_CERT, NEXUS_OTLP__TLS_KEY: {error}"
        raise ConfigError(msg) from error
    return context
