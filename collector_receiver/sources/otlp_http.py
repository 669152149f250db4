"""OTLP over HTTP: `POST /v1/traces`, protobuf or JSON, plain or gzip."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import orjson
import structlog

from collector_receiver.gate import Gate
from collector_receiver.intake import Intake, Outcome, Pending
from collector_receiver.sources import otlp_grpc
from collector_receiver.sources.http_connection import Connection, HttpTimeouts, Request, Response
from collector_receiver.status import answer, refusal
from nexus import telemetry
from nexus.errors import InvariantBroken, NexusError, NotFound, TooLarge

log = structlog.get_logger("nexus.receiver")

PATH: Final = "/v1/traces"
TRANSPORT: Final = "http"
PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
SWEEP_S: Final = 1.0
# Of what a client sent, in an answer to it.
MAX_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How the server behaves."""

    max_request_bytes: int = 64 * 1024 * 1024
    max_connections: int = 4096
    timeouts: HttpTimeouts = field(default_factory=HttpTimeouts)
    tls: ssl.SSLContext | None = None


class OtlpHttpServer:
    """Serves on a listening socket until stopped. Is the `Application` of its connections."""

    def __init__(self, intake: Intake, gate: Gate, options: HttpOptions) -> None:
        self._intake, self._gate, self._options = intake, gate, options
        self.timeouts = options.timeouts
        # In the order of arrival, so that the oldest is found first when room is needed.
        self._connections: OrderedDict[Connection, None] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._stopping = False

    async def start(self, listening: socket.socket) -> None:
        """Accept connections on a bound socket."""
        self._loop = asyncio.get_running_loop()
        self._server = await self._loop.create_server(
            lambda: Connection(self), sock=listening, ssl=self._options.tls, backlog=2048
        )
        self._sweeper = asyncio.create_task(self._sweep(), name="otlp-http-sweep")

    async def stop(self, grace: timedelta) -> None:
        """Accept no more, answer what is there."""
        if self._server is not None:
            self._server.close()
        # What the kernel has accepted already reaches us in the next turns of the loop, and must not be left open without an answer.
        self._stopping = True
        await asyncio.sleep(0.05)
        until = time.monotonic() + grace.total_seconds()
        for connection in list(self._connections):
            if not connection.receiving:
                connection.close_when_idle()
        while (  # noqa: ASYNC110  # a shutdown only
            any(connection.busy or connection.receiving for connection in self._connections)
            and time.monotonic() < until
        ):
            await asyncio.sleep(0.02)
        for connection in list(self._connections):
            connection.abort()
        await asyncio.sleep(0)
        if self._sweeper is not None:
            self._sweeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeper

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            now = time.monotonic()
            for connection in list(self._connections):
                connection.expire(now)

    # The application of a connection

    def opened(self, connection: Connection) -> None:
        """Make room by closing the oldest connection that neither sends a body nor waits for an answer; where there is none, the new one goes."""
        if self._stopping:
            connection.abort()
            return
        self._connections[connection] = None
        telemetry.OTLP_CONNECTIONS.set(len(self._connections))
        if len(self._connections) <= self._options.max_connections:
            return
        telemetry.OTLP_REFUSED.labels("connections").inc()
        for other in self._connections:
            if not other.busy and not other.receiving:
                # Out of the list now: the event loop tells of the end only later, and many may come in between.
                del self._connections[other]
                other.abort()
                return

    def closed(self, connection: Connection) -> None:
        """Forget it."""
        self._connections.pop(connection, None)
        telemetry.OTLP_CONNECTIONS.set(len(self._connections))

    def begin(self, request: Request) -> None:
        """Refuse by the headers alone what can be."""
        if request.path != PATH:
            msg = f"there is nothing at {request.path[:MAX_SHOWN]}; traces go to {PATH}"
            raise NotFound(msg)
        if request.method != "POST":
            request.refused = self._refused(request, 405, "traces are sent with POST", {"Allow": "POST"})
            return
        # The parser undoes chunks only: what else was done to the body for the way would be read as if it were what was sent.
        if (transfer := request.headers.get("transfer-encoding", "chunked").strip().lower()) != "chunked":
            request.refused = self._refused(
                request, 501, f"Transfer-Encoding must be chunked, not {transfer[:MAX_SHOWN]}", {}
            )
            return
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in {PROTOBUF, JSON}:
            request.refused = self._refused(
                request,
                415,
                f"Content-Type must be {PROTOBUF} or {JSON}, not {kind[:MAX_SHOWN] or 'missing'}",
                {"Accept": f"{PROTOBUF}, {JSON}"},
            )
            return
        coding = request.headers.get("content-encoding", "").strip().lower() or "identity"
        if coding not in {"identity", "gzip"}:
            request.refused = self._refused(
                request,
                415,
                f"Content-Encoding must be gzip or identity, not {coding[:MAX_SHOWN]}",
                {"Accept-Encoding": "gzip, identity"},
            )
            return
        request.notes["gzip"] = coding == "gzip"
        authorization = request.headers.get("authorization")
        request.notes["tenant"] = self._gate.remembered(authorization)
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > self._options.max_request_bytes:
            raise self._too_large()

    def grow(self, request: Request, size: int) -> None:
        """Count a piece of body against the request's limit and the budget of all."""
        if request.size + size > self._options.max_request_bytes:
            raise self._too_large()
        self._intake.budget.reserve(size)
        request.reserved += size

    async def respond(self, request: Request) -> Response:
        """Take the request; the answer is in its encoding."""
        try:
            outcome = await self._take(request)
        except NexusError as error:
            return self.refuse(request, error)
        except Exception as error:
            log.exception("otlp_http_failed")
            return self.refuse(request, InvariantBroken(repr(error)))
        finally:
            self.drop(request)
        telemetry.OTLP_REQUESTS.labels(TRANSPORT, "200").inc()
        if not _json(request):
            return Response(200, PROTOBUF, otlp_grpc.response(outcome))
        if not outcome.rejected:
            return Response(200, JSON, b"{}")
        # 64-bit integers are texts in protobuf's JSON.
        return Response(
            200,
            JSON,
            orjson.dumps({"partialSuccess": {"rejectedSpans": str(outcome.rejected), "errorMessage": outcome.message}}),
        )

    async def _take(self, request: Request) -> Outcome:
        tenant = request.notes["tenant"]
        if tenant is None:
            tenant = await asyncio.to_thread(self._gate.tenant, request.headers.get("authorization"))
        telemetry.OTLP_BYTES.labels(TRANSPORT).inc(request.size)
        body = request.body[0] if len(request.body) == 1 else b"".join(request.body)
        request.body.clear()
        assert self._loop is not None
        outcome: asyncio.Future[Outcome] = self._loop.create_future()
        gzip, reserved = request.notes["gzip"], request.reserved
        pending = Pending(body, tenant, self._deliver, outcome, _json(request), gzip, reserved)
        self._intake.submit(pending)
        request.reserved = 0  # it is the intake's from here on
        try:
            return await outcome
        finally:
            # An error that it holds would hold it, and what else is here.
            del outcome, pending

    def _deliver(self, answers: Sequence[tuple[asyncio.Future[Outcome], Outcome | NexusError]]) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # a loop that is closed has nobody left who waits
            self._loop.call_soon_threadsafe(_resolve, answers)

    def refuse(self, request: Request, error: NexusError) -> Response:
        """The answer to an error."""
        refused = answer(error)
        telemetry.OTLP_REQUESTS.labels(TRANSPORT, str(refused.http)).inc()
        if refused.retry_after is not None:
            telemetry.OTLP_REFUSED.labels(error.code).inc()
        headers = refused.headers()
        if refused.http == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return Response(refused.http, JSON if _json(request) else PROTOBUF, refused.body(json=_json(request)), headers)

    def drop(self, request: Request) -> None:
        """Give back the bytes of a request that the intake never had."""
        if request.reserved:
            self._intake.budget.release(request.reserved)
            request.reserved = 0

    def _refused(self, request: Request, status: int, message: str, headers: dict[str, str]) -> Response:
        telemetry.OTLP_REQUESTS.labels(TRANSPORT, str(status)).inc()
        return Response(
            status, JSON if _json(request) else PROTOBUF, refusal(status, message).body(json=_json(request)), headers
        )

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"the request is larger than {self._options.max_request_bytes} bytes (NEXUS_OTLP__MAX_REQUEST_BYTES); send smaller batches"
        )


def _resolve(answers: Sequence[tuple[asyncio.Future[Outcome], Outcome | NexusError]]) -> None:
    for future, result in answers:
        # Done already: its client is gone.
        if not future.done():
            if isinstance(result, Outcome):
                future.set_result(result)
            else:
                future.set_exception(result)


def _json(request: Request) -> bool:
    """Whether to answer in JSON: to everything that is not declared as protobuf, for then a person reads it."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() != PROTOBUF
