"""Builds a receiver from settings: for the service's own process and for its workers."""

from __future__ import annotations

import resource
import socket
from datetime import timedelta
from typing import Final

from collector_receiver.intake import IntakeLimits
from collector_receiver.run import Receiver, ReceiverOptions, read_tls, ssl_context
from collector_receiver.sources.otlp_grpc import GrpcOptions
from collector_receiver.sources.otlp_http import HttpOptions
from nexus.errors import ConfigError
from nexus.model.principal import Principal
from nexus.ports.span_log import SpanLogWriter
from nexus.settings.base import host_port
from nexus.store.principal import find_principal
from nexus.wiring.runtime import Runtime

GRACE: Final = timedelta(seconds=10)
MAX_FILES: Final = 65_536


def build_receiver(runtime: Runtime, *, grpc_address: str, reuse_port: bool) -> Receiver:
    """A receiver on the runtime's log. ConfigError where the TLS files are not usable, StoreUnavailable where the log cannot be opened."""
    settings = runtime.settings.otlp
    tls = read_tls(settings.tls_cert, settings.tls_key, settings.tls_client_ca)
    context = (
        ssl_context(settings.tls_cert, settings.tls_key, settings.tls_client_ca)
        if settings.tls_cert and settings.tls_key
        else None
    )

    def find(token: str) -> Principal | None:
        with runtime.database.connection() as connection:
            return find_principal(connection, token)

    options = ReceiverOptions(
        grpc=GrpcOptions(
            grpc_address,
            settings.max_request_bytes,
            settings.max_concurrent_reads,
            read_timeout=settings.request_timeout,
            max_connection_age=settings.max_connection_age,
            reuse_port=reuse_port,
            tls=tls,
        ),
        # Half of the files for OTLP/HTTP: the log, the database and gRPC's connections need some as well.
        http=HttpOptions(
            settings.max_request_bytes, min(settings.max_connections, raise_file_limit() // 2), tls=context
        ),
        intake=IntakeLimits(max_request_bytes=settings.max_request_bytes),
        max_in_flight_bytes=max(settings.max_in_flight_bytes, 2 * settings.max_request_bytes),
        allowed=frozenset(settings.keep_attributes),
    )
    return Receiver(runtime.get(SpanLogWriter), find if settings.auth == "token" else None, options)


def raise_file_limit() -> int:
    """Let this process open as many files as it may (shells give 1,024, many connections need more); returns how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MAX_FILES if soft == resource.RLIM_INFINITY else soft


def bind(address: str, variable: str, *, reuse_port: bool = False) -> socket.socket:
    """A bound socket. ConfigError, in one line, where the port is taken or the address is not this machine's."""
    host, port = host_port(address)
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if reuse_port:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        msg = f"{variable}: cannot listen on {address}: {error.strerror}; choose another address"
        raise ConfigError(msg) from error
    return bound
