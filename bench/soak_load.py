"""The soak's load: calls that are each a trace of their own, sent until they are acknowledged, so that what must be counted in the end is known exactly.

A process of its own (`bench/soak.py` starts it). Every request goes out again with the same bytes until its receiver takes it: after a crash nobody knows whether the
answer was lost or the spans. Prints a line of JSON with its counts twice a second; ends on SIGTERM once everything is acknowledged.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time

import grpc
import numpy as np
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
CALLS = 500  # a request; two spans each
SERVICES = 20
PAUSE_S = 0.25


class Template:
    """A request whose trace ids and times are patched in place."""

    def __init__(self) -> None:
        message = ExportTraceServiceRequest()
        scopes = []
        for n in range(SERVICES):
            block = message.resource_spans.add()
            for key, value in (
                ("service.name", f"service-{n}"),
                ("deployment.environment.name", "prod"),
                ("service.instance.id", f"pod-{n}"),
            ):
                block.resource.attributes.add(key=key).value.string_value = value
            scopes.append(block.scope_spans.add())
        for n in range(CALLS):
            trace, caller, callee = b"\xf1\xf2" + n.to_bytes(14, "big"), n % SERVICES, (n * 7 + 3) % SERVICES
            callee = (callee + 1) % SERVICES if callee == caller else callee
            for scope, kind, own, parent in (
                (scopes[caller], 3, b"client--", b""),
                (scopes[callee], 2, b"server--", b"client--"),
            ):
                span = scope.spans.add(
                    trace_id=trace,
                    span_id=own,
                    parent_span_id=parent,
                    name=f"GET /items/{n % 40}",
                    kind=kind,
                    start_time_unix_nano=1,
                    end_time_unix_nano=2,
                )
                for key, value in (
                    ("http.request.method", "GET"),
                    ("url.path", f"/items/{n}"),
                    ("server.address", f"service-{callee}"),
                    ("user_agent.original", "soak"),
                    ("thread.name", "main"),
                ):
                    span.attributes.add(key=key).value.string_value = value
        raw = message.SerializeToString()
        self._raw = np.frombuffer(raw, np.uint8)
        self._ids = np.array(
            [place for n in range(CALLS) for place in _places(raw, b"\x0a\x10\xf1\xf2" + n.to_bytes(14, "big"))]
        )[:, None] + np.arange(2, 10)
        self._starts = np.array(_places(raw, b"\x39" + (1).to_bytes(8, "little")))[:, None] + np.arange(1, 9)
        self._ends = np.array(_places(raw, b"\x41" + (2).to_bytes(8, "little")))[:, None] + np.arange(1, 9)
        assert len(self._ids) == len(self._starts) == len(self._ends) == 2 * CALLS

    def make(self, run: int, number: int) -> bytes:
        """Request `number` of a run, as of now."""
        raw, now = self._raw.copy(), time.time_ns()
        raw[self._ids] = np.frombuffer(run.to_bytes(4, "big") + number.to_bytes(4, "big"), np.uint8)
        raw[self._starts] = np.frombuffer(now.to_bytes(8, "little"), np.uint8)
        raw[self._ends] = np.frombuffer((now + 3_000_000).to_bytes(8, "little"), np.uint8)
        return raw.tobytes()


def _places(raw: bytes, pattern: bytes) -> list[int]:
    found, place = [], raw.find(pattern)
    while place >= 0:
        found.append(place)
        place = raw.find(pattern, place + 1)
    return found


async def generate(address: str, rate: float, clients: int, run: int) -> None:
    """`rate` spans/s as long as the receiver keeps up with the clients; 0 = as fast as it does."""
    template, ending = Template(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    counts = {"requests": 0, "acknowledged": 0, "refused": 0, "failed": 0, "last_ack": 0.0}
    began = time.monotonic()

    async def client() -> None:
        options = [
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_reconnect_backoff_ms", 500),
        ]
        async with grpc.aio.insecure_channel(address, options=options) as channel:
            call = channel.unary_unary(METHOD)
            while not ending.is_set():
                number = counts["requests"]
                counts["requests"] += 1
                if rate and (due := began + number * 2 * CALLS / rate) > time.monotonic():
                    await asyncio.sleep(due - time.monotonic())
                await deliver(call, template.make(run, number))

    async def deliver(call: grpc.aio.UnaryUnaryMultiCallable, body: bytes) -> None:
        while True:
            try:
                await call(body, timeout=30)
            except grpc.aio.AioRpcError as error:
                counts["refused" if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED else "failed"] += 1
                await asyncio.sleep(PAUSE_S)
            else:
                counts["acknowledged"] += 1
                counts["last_ack"] = time.time()
                return

    async def report() -> None:
        while True:
            print(json.dumps(counts), flush=True)
            await asyncio.sleep(0.5)

    reporting = asyncio.create_task(report())
    await asyncio.gather(*(client() for _ in range(clients)))
    reporting.cancel()
    print(json.dumps(counts), flush=True)


if __name__ == "__main__":
    asyncio.run(generate(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
