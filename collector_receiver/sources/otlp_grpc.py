"""OTLP over gRPC: the trace service on raw bytes, with health and reflection.

A call comes before its message, and it is decided here how many are read at a time: what is not read waits in the sender, held back by flow control, and not in our memory.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final

import grpc
import structlog
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_service

from collector_receiver.gate import MAX_LOOKUPS, Gate
from collector_receiver.intake import Intake, Outcome, Pending
from collector_receiver.sources.grpc_calls import Call, GrpcServer
from collector_receiver.sources.grpc_services import NAMES, Health, Reflection
from collector_receiver.status import answer
from nexus import telemetry
from nexus.errors import ConfigError, InputError, InvariantBroken, NexusError, Overloaded, StoreUnavailable

log = structlog.get_logger("nexus.receiver")

SERVICE: Final = trace_service.DESCRIPTOR.services_by_name["TraceService"].full_name
METHOD: Final = f"/{SERVICE}/Export"
TRANSPORT: Final = "grpc"
# Calls that wait for their token to be looked up, and calls that wait until their message may be read; more are refused at once.
MAX_WAITING: Final = 1024
TOO_MANY: Final = "too many requests arrive at once; send again"
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


@dataclass(eq=False, slots=True)
class _Reading:
    """A call whose message is awaited until `until` (monotonic s): to be sent, or first to be asked for."""

    call: Call
    tenant: str
    until: float
    given_up: bool = False


class OtlpGrpcServer:
    """Serves until stopped."""

    def __init__(self, intake: Intake, gate: Gate, options: GrpcOptions) -> None:
        self._intake, self._gate, self._options = intake, gate, options
        self._health = Health([SERVICE])
        self._methods = {METHOD: self._export} | self._health.methods | Reflection([SERVICE, *NAMES]).methods
        self._server = GrpcServer(channel_arguments(options), self._dispatch, self._expire)
        self._lookups = ThreadPoolExecutor(MAX_LOOKUPS, thread_name_prefix="otlp-token")
        self._lookups_left = threading.BoundedSemaphore(MAX_WAITING)
        # Calls whose message is on its way, and those that wait for one of these to be there.
        self._reading: set[_Reading] = set()
        self._held: deque[_Reading] = deque()
        self._lock = threading.Lock()
        self.port = 0

    def start(self) -> None:
        """Listen. ConfigError where the address cannot be had or the certificate is none."""
        options = self._options
        credentials = (
            None
            if options.tls is None
            else grpc.ssl_server_credentials(
                [(options.tls.key, options.tls.certificate)],
                options.tls.client_ca,
                require_client_auth=options.tls.client_ca is not None,
            )
        )
        self.port = self._server.listen(options.address, credentials)
        if not self.port:
            msg = f"NEXUS_OTLP__GRPC: cannot listen on {options.address} (taken, or the certificate in NEXUS_OTLP__TLS_CERT is not usable); choose another address"
            raise ConfigError(msg)
        self._server.start()

    def stop(self, grace: timedelta) -> None:
        """Tell health checks, take no more calls, let those in flight finish. Blocks."""
        self._health.stop()
        self._server.stop(grace.total_seconds())
        self._lookups.shutdown(wait=False)

    def _dispatch(self, call: Call) -> None:
        method = self._methods.get(call.method)
        if method is None:
            call.finish(grpc.StatusCode.UNIMPLEMENTED, "there is no such method")
        else:
            method(call)

    # A call for traces: whose it is, then its message when there is room for it, then the intake.

    def _export(self, call: Call) -> None:
        with _answering(call):
            stated = [value for key, value in call.metadata if key == "authorization"]
            # Several are no token, as over HTTP.
            authorization = ", ".join(stated) if stated else None
            tenant = self._gate.remembered(authorization)
            if tenant is not None:
                self._admit(call, tenant)
            elif self._lookups_left.acquire(blocking=False):
                self._lookups.submit(self._look_up, call, authorization)
            else:
                raise StoreUnavailable("tokens cannot be checked as fast as they come; send again")

    def _look_up(self, call: Call, authorization: str | None) -> None:
        with _answering(call):
            try:
                tenant = self._gate.tenant(authorization)
            finally:
                self._lookups_left.release()
            self._admit(call, tenant)

    def _admit(self, call: Call, tenant: str) -> None:
        reading = _Reading(call, tenant, time.monotonic() + self._options.read_wait.total_seconds())
        with self._lock:
            held = len(self._reading) >= self._options.max_reads
            if not held:
                self._reading.add(reading)
            elif len(self._held) < MAX_WAITING:
                self._held.append(reading)
            else:
                raise Overloaded(TOO_MANY, retry_after=1.0)
        if not held:
            self._read(reading)

    def _read(self, reading: _Reading) -> None:
        reading.until = time.monotonic() + self._options.read_timeout.total_seconds()
        reading.call.read(partial(self._arrived, reading))

    def _arrived(self, reading: _Reading, body: bytes | None) -> None:
        if reading.given_up:
            return
        self._next(reading)
        with _answering(reading.call):
            if body is None:
                raise InputError("a call without a request message")
            _BYTES.inc(len(body))
            self._intake.budget.reserve(len(body))
            try:
                self._intake.submit(Pending(body, reading.tenant, _deliver, reading.call, reserved=len(body)))
            except BaseException:
                self._intake.budget.release(len(body))
                raise

    def _next(self, read: _Reading) -> None:
        """One is no longer read: the next is."""
        with self._lock:
            self._reading.discard(read)
            reading = self._held.popleft() if self._held else None
            if reading is not None:
                self._reading.add(reading)
        if reading is not None:
            self._read(reading)

    def _expire(self) -> None:
        """Give up what took too long."""
        now = time.monotonic()
        with self._lock:
            late = [reading for reading in self._reading if reading.until < now]
            refused = []
            while self._held and self._held[0].until < now:
                refused.append(self._held.popleft().call)
        for call in refused:
            _refuse(call, Overloaded(TOO_MANY, retry_after=1.0))
        for reading in late:
            reading.given_up = True
            msg = f"the request did not arrive within {self._options.read_timeout.total_seconds():.0f} s"
            _refuse(reading.call, Overloaded(msg, retry_after=1.0))
            self._next(reading)


def _deliver(answers: Sequence[tuple[Call, Outcome | NexusError]]) -> None:
    for call, result in answers:
        with _answering(call):
            if isinstance(result, NexusError):
                _refuse(call, result)
            else:
                _OK.inc()
                call.finish(grpc.StatusCode.OK, message=response(result))


@contextlib.contextmanager
def _answering(call: Call) -> Iterator[None]:
    """What is raised is the answer to a call. No exception of Python reaches a sender as UNKNOWN, which would make it drop its data."""
    try:
        yield
    except NexusError as error:
        _refuse(call, error)
    except Exception as error:
        log.exception("otlp_grpc_failed")
        _refuse(call, InvariantBroken(repr(error)))


def _refuse(call: Call, error: NexusError) -> None:
    refused = answer(error)
    telemetry.OTLP_REQUESTS.labels(TRANSPORT, refused.code.name).inc()
    if refused.retry_after is not None:
        telemetry.OTLP_REFUSED.labels(error.code).inc()
    call.finish(refused.code, refused.message, trailers=refused.trailers())


def response(outcome: Outcome) -> bytes:
    """An ExportTraceServiceResponse: empty on full success, which is how `partial_success` is left unset."""
    if not outcome.rejected:
        return b""
    partial = trace_service.ExportTracePartialSuccess(rejected_spans=outcome.rejected, error_message=outcome.message)
    return bytes(trace_service.ExportTraceServiceResponse(partial_success=partial).SerializeToString())
