"""A receiver on real sockets for tests: in a thread of its own, on free ports."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import polars as pl
import uvloop
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector_receiver.log.local import LocalSpanLogWriter
from collector_receiver.log.reader import LocalSpanLogReader
from collector_receiver.raw import RawSpans
from collector_receiver.run import Receiver, ReceiverOptions
from collector_receiver.sources.otlp_grpc import GrpcOptions
from collector_receiver.sources.otlp_http import HttpOptions
from nexus.ports.span_log import Rejection

SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
METHOD = f"/{SERVICE}/Export"
# Of a request over HTTP, but for what says how long it is.
HEAD = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"


class Now:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Faulty:
    """A span log that can be made to fail; hands over to the real one otherwise."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.fail: Callable[[RawSpans], None] = lambda spans: None

    def append_raw(self, spans: RawSpans, source: str, rejections: Sequence[Rejection] = ()) -> None:
        self.fail(spans)
        self.inner.append_raw(spans, source, rejections)


@dataclass
class Served:
    """A running receiver."""

    receiver: Receiver
    log: Faulty
    reader: LocalSpanLogReader
    http_port: int
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread

    @property
    def grpc_port(self) -> int:
        return self.receiver.grpc_port

    def spans(self) -> pl.DataFrame:
        """Everything in the log."""
        frames, at = [], {}
        while True:
            frame, after = self.reader.read(at, 10_000)
            frames.append(frame)
            if after == at:
                return pl.concat(frames)
            at = after

    def rejected(self) -> list[Rejection]:
        return [item.rejection for item in self.reader.rejected({}, self.reader.end())]

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(120)

    def stop(self) -> None:
        self.run(self.receiver.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(120)
        self.loop.close()
        self.log.inner.close()

    def raw(self, data: bytes, pause: float = 0.0) -> bytes:
        """Send bytes over HTTP's port, read until the server closes."""
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=120) as client:
            client.sendall(data)
            time.sleep(pause)
            answer = b""
            try:
                while piece := client.recv(65536):
                    answer += piece
            except TimeoutError:
                pass
            return answer

    def post(
        self, body: bytes, headers: dict[str, str] | None = None, path: str = "/v1/traces", method: str = "POST"
    ) -> tuple[int, dict[str, str], bytes]:
        """One request on a connection of its own: status, headers in lower case, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=120)
        try:
            connection.request(
                method, path, body, {"Content-Type": "application/x-protobuf"} if headers is None else headers
            )
            response = connection.getresponse()
            return response.status, {key.lower(): value for key, value in response.getheaders()}, response.read()
        finally:
            connection.close()


def serve(root: Path, find: Any = None, **changes: Any) -> Served:
    """Start a receiver, OTLP/HTTP on `port` (0 = any). `changes` replace parts of its options: `grpc_*`, `http_*` and `intake_*` fields, or fields of ReceiverOptions."""
    options = ReceiverOptions(GrpcOptions("127.0.0.1:0"), HttpOptions())
    port = changes.pop("port", 0)
    limit = changes.pop("max_request_bytes", None)
    if limit is not None:
        changes |= {"grpc_max_request_bytes": limit, "http_max_request_bytes": limit, "intake_max_request_bytes": limit}
    for part in ("grpc", "http", "intake"):
        fields = {
            name.removeprefix(f"{part}_"): changes.pop(name) for name in list(changes) if name.startswith(f"{part}_")
        }
        options = replace(options, **{part: replace(getattr(options, part), **fields)})
    options = replace(options, **changes)
    log = Faulty(LocalSpanLogWriter(root, Now()))
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    started: Future[Receiver] = Future()

    async def begin() -> None:
        receiver = Receiver(log, find, options)
        try:
            await receiver.start(listening)
        except Exception as error:  # noqa: BLE001  # goes to the test
            started.set_exception(error)
            return
        started.set_result(receiver)

    def work() -> None:
        asyncio.set_event_loop(loop)
        task = loop.create_task(begin())
        loop.run_forever()
        del task

    thread = threading.Thread(target=work, name="receiver")
    thread.start()
    try:
        # The first start on a machine compiles.
        receiver = started.result(180)
    except BaseException:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(120)
        log.inner.close()
        raise
    return Served(receiver, log, LocalSpanLogReader(root, Now()), listening.getsockname()[1], loop, thread)


def body(spans: int = 1, filler: int = 0, first: int = 1) -> bytes:
    message = ExportTraceServiceRequest()
    scope = message.resource_spans.add().scope_spans.add()
    for n in range(first, first + spans):
        span = scope.spans.add(
            trace_id=n.to_bytes(16, "big"), span_id=n.to_bytes(8, "big"), start_time_unix_nano=1, end_time_unix_nano=2
        )
        if filler:
            span.attributes.add(key="filler").value.string_value = "x" * filler
    return message.SerializeToString()


def export(served: Served, content: bytes, metadata=(), channel=None) -> str:
    """The gRPC code's name."""
    own = channel or grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}")
    try:
        own.unary_unary(METHOD)(content, timeout=120, metadata=metadata)
    except grpc.RpcError as error:
        return error.code().name
    finally:
        own.close()
    return "OK"
