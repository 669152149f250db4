"""OTLP over gRPC: the trace service on raw bytes, with health and reflection.

The one method is served as a stream of requests, which is the same on the wire as the single request that senders make. So the handler runs before the message
is read, and decides how many are read at a time: what is not read waits in the sender, held back by flow control, and not in our memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_service

from collector_receiver.gate import Gate
from collector_receiver.intake import Intake, Outcome, Pending
from collector_receiver.status import answer
from nexus import telemetry
from nexus.errors import ConfigError, InputError, InvariantBroken, NexusError, Overloaded

SERVICE: Final = trace_service.DESCRIPTOR.services_by_name["TraceService"].full_name
METHOD: Final = f"/{SERVICE}/Export"
TRANSPORT: Final = "grpc"
_BYTES: Final = telemetry.OTLP_BYTES.labels(TRANSPORT)
_OK: Final = telemetry.OTLP_REQUESTS.labels(TRANSPORT, "OK")


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM bytes. With `client_ca` senders must present a certificate that it signed (mTLS)."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None = None


@dataclass(frozen=True, slots=True)
class GrpcOptions:
    """How the server behaves. `read_timeout` bounds how long one message may take to arrive."""

    address: str
    max_request_bytes: int = 64 * 1024 * 1024
    max_reads: int = 64
    read_wait: timedelta = timedelta(seconds=1)
    read_timeout: timedelta = timedelta(seconds=30)
    max_connection_age: timedelta = timedelta(minutes=30)
    max_connection_idle: timedelta = timedelta(minutes=10)
    reuse_port: bool = False
    tls: Tls | None = None
    extra: tuple[tuple[str, int], ...] = field(default=())


def channel_arguments(options: GrpcOptions) -> list[tuple[str, int]]:
    """gRPC core's arguments."""
    age = int(options.max_connection_age.total_seconds() * 1000)
    return [
        ("grpc.max_receive_message_length", options.max_request_bytes),
        ("grpc.so_reuseport", int(options.reuse_port)),
        ("grpc.max_connection_age_ms", age),
        # Calls in flight when a connection has reached its age may finish.
        ("grpc.max_connection_age_grace_ms", 30_000),
        ("grpc.max_connection_idle_ms", int(options.max_connection_idle.total_seconds() * 1000)),
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.keepalive_permit_without_calls", 1),
        # Senders may ping every ten seconds; the default of five minutes ends connections of those who ping as the SDKs document it.
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.max_ping_strikes", 5),
        # One connection must not hold all of the service.
        ("grpc.max_concurrent_streams", 256),
        ("grpc.max_metadata_size", 16 * 1024),
        # Requests are large: fewer and longer frames of them cost a tenth less.
        ("grpc.http2.max_frame_size", 1024 * 1024),
        *options.extra,
    ]


class OtlpGrpcServer:
    """Serves until stopped."""

    def __init__(self, intake: Intake, gate: Gate, options: GrpcOptions) -> None:
        self._intake, self._gate, self._options = intake, gate, options
        self._reads = asyncio.Semaphore(options.max_reads)
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(options=channel_arguments(options))
        self._server.add_generic_rpc_handlers((_Handlers(self._export),))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection([SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server)
        self.port = 0

    async def start(self) -> None:
        """Listen. ConfigError where the address cannot be had or the certificate is none."""
        options = self._options
        try:
            if options.tls is None:
                self.port = self._server.add_insecure_port(options.address)
            else:
                credentials = grpc.ssl_server_credentials(
                    [(options.tls.key, options.tls.certificate)],
                    options.tls.client_ca,
                    require_client_auth=options.tls.client_ca is not None,
                )
                self.port = self._server.add_secure_port(options.address, credentials)
        except RuntimeError as error:
            msg = f"NEXUS_OTLP__GRPC: cannot listen on {options.address} (taken, or the certificate in NEXUS_OTLP__TLS_CERT is not usable); choose another address"
            raise ConfigError(msg) from error
        await self._server.start()
        for name in ("", SERVICE):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)

    async def stop(self, grace: timedelta) -> None:
        """Tell health checks, take no more calls, let those in flight finish."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace.total_seconds())

    async def _export(self, _requests: AsyncIterator[bytes], context: Any) -> bytes:
        try:
            outcome = await self._take(context)
        except NexusError as error:
            refused = answer(error)
            telemetry.OTLP_REQUESTS.labels(TRANSPORT, refused.code.name).inc()
            if refused.retry_after is not None:
                telemetry.OTLP_REFUSED.labels(error.code).inc()
            await context.abort(refused.code, refused.message, refused.trailers())
        _OK.inc()
        return response(outcome)

    async def _take(self, context: Any) -> Outcome:
        stated = [value for key, value in context.invocation_metadata() or () if key == "authorization"]
        # Several are no token, as over HTTP.
        authorization = ", ".join(stated) if stated else None
        tenant = self._gate.remembered(authorization)
        if tenant is None:
            tenant = await asyncio.to_thread(self._gate.tenant, authorization)
        pending = await self._receive(context, tenant)
        try:
            self._intake.submit(pending)
        except BaseException:
            self._intake.budget.release(pending.reserved)
            raise
        return await pending.future

    async def _receive(self, context: Any, tenant: str) -> Pending:
        if self._reads.locked():
            try:
                async with asyncio.timeout(self._options.read_wait.total_seconds()):
                    await self._reads.acquire()
            except TimeoutError:
                raise Overloaded("too many requests arrive at once; send again", retry_after=1.0) from None
        else:
            await self._reads.acquire()
        try:
            async with asyncio.timeout(self._options.read_timeout.total_seconds()):
                # Not from the iterator of requests, which is another coroutine around this one.
                body = await context.read()
        except TimeoutError:
            msg = f"the request did not arrive within {self._options.read_timeout.total_seconds():.0f} s"
            raise Overloaded(msg, retry_after=1.0) from None
        finally:
            self._reads.release()
        if body is grpc.aio.EOF:
            raise InputError("a call without a request message")
        _BYTES.inc(len(body))
        self._intake.budget.reserve(len(body))
        return Pending(body, tenant, reserved=len(body))


class _Handlers(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """The one method, without deserializers: bytes in, bytes out."""

    def __init__(self, export: Any) -> None:
        self._handler = grpc.stream_unary_rpc_method_handler(_guarded(export))

    def service(self, handler_call_details: Any) -> Any:
        return self._handler if handler_call_details.method == METHOD else None


def _guarded(export: Any) -> Any:
    """No exception of Python reaches a sender as UNKNOWN, which would make it drop its data."""

    async def guarded(requests: AsyncIterator[bytes], context: Any) -> bytes:
        try:
            return bytes(await export(requests, context))
        except grpc.aio.AbortError:
            raise
        except Exception as error:  # the edge of the process
            refused = answer(InvariantBroken(repr(error)))
            telemetry.OTLP_REQUESTS.labels(TRANSPORT, refused.code.name).inc()
            await context.abort(refused.code, refused.message, refused.trailers())
            raise

    return guarded


def response(outcome: Outcome) -> bytes:
    """An ExportTraceServiceResponse: empty on full success, which is how `partial_success` is left unset."""
    if not outcome.rejected:
        return b""
    partial = trace_service.ExportTracePartialSuccess(rejected_spans=outcome.rejected, error_message=outcome.message)
    return bytes(trace_service.ExportTraceServiceResponse(partial_success=partial).SerializeToString())
