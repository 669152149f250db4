"""Receiving: acknowledged durable spans per second, CPU seconds per million, p99 acknowledgement at half load, peak memory.

    python bench/receive.py [--workers 1] [--seconds 10] [--transport grpc|http] [--fresh]

The receiver is `nexus.wiring.receive_worker`, the process that the service runs; the load generator is a process of its own on the same machine. Batches have 1,000 spans with nine
attributes each. Payloads are made before the clock starts, a different one for each of `--payloads`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import pickle
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SPANS = 1000
METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
TARGET_SPANS_PER_S, TARGET_CPU_S = 400_000, 1.5


def payload(seed: int) -> bytes:
    """One export request: a service's spans as an SDK would send them."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    chance = random.Random(seed)
    request = ExportTraceServiceRequest()
    block = request.resource_spans.add()
    for key, value in (
        ("service.name", f"service-{seed % 7}"),
        ("service.namespace", "shop"),
        ("deployment.environment.name", "prod"),
        ("service.instance.id", f"pod-{seed}"),
        ("telemetry.sdk.language", "python"),
    ):
        block.resource.attributes.add(key=key).value.string_value = value
    scope = block.scope_spans.add()
    scope.scope.name = "bench"
    base = 1_768_478_400_000_000_000
    for n in range(SPANS):
        target = f"service-{chance.randrange(20)}"
        start = base + chance.randrange(60_000_000_000)
        span = scope.spans.add(
            trace_id=chance.randbytes(16),
            span_id=chance.randbytes(8),
            parent_span_id=chance.randbytes(8),
            name=f"GET /api/orders/{n % 40}",
            kind=chance.choice((1, 2, 3)),
            start_time_unix_nano=start,
            end_time_unix_nano=start + chance.randrange(50_000_000),
            flags=0x101,
        )
        for key, value in (
            ("http.request.method", "GET"),
            ("url.full", f"http://{target}:8080/api/orders/{chance.randrange(10_000)}"),
            ("server.address", target),
            ("server.port", 8080),
            ("http.response.status_code", 200),
            ("user_agent.original", "python-requests/2.32"),
            ("network.protocol.version", "1.1"),
            ("thread.id", chance.randrange(10**6)),
            ("code.function.name", "shop.orders.views.get_order"),
        ):
            item = span.attributes.add(key=key).value
            if isinstance(value, int):
                item.int_value = value
            else:
                item.string_value = value
    return request.SerializeToString()


async def generate(
    port: int, transport: str, seconds: float, payloads: int, clients: int, rate: float
) -> dict[str, float]:
    """Send for a while. `rate` spans/s on a schedule (latency counted from the scheduled time), 0 = as fast as acknowledged."""
    bodies = [payload(n) for n in range(payloads)]
    latencies: list[float] = []
    failed = 0
    began = time.perf_counter()
    end = began + seconds
    schedule = iter(range(10**9))

    async def grpc_client() -> None:
        import grpc

        nonlocal failed
        async with grpc.aio.insecure_channel(
            f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)]
        ) as channel:
            await channel.channel_ready()
            call = channel.unary_unary(METHOD)
            while (due := await next_due()) is not None:
                try:
                    answer = await call(bodies[int(due * 1e6) % payloads])
                    assert answer == b""
                    latencies.append(time.perf_counter() - due)
                except grpc.aio.AioRpcError:
                    failed += 1
                    await asyncio.sleep(0.1)

    async def http_client() -> None:
        nonlocal failed
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (due := await next_due()) is not None:
            body = bodies[int(due * 1e6) % payloads]
            head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            answer = await reader.readuntil(b"\r\n\r\n")
            if answer.startswith(b"HTTP/1.1 200"):
                latencies.append(time.perf_counter() - due)
            else:
                failed += 1
                await reader.readexactly(int(answer.lower().partition(b"content-length: ")[2].partition(b"\r")[0]))
                await asyncio.sleep(0.1)
        writer.close()

    async def next_due() -> float | None:
        now = time.perf_counter()
        if not rate:
            return now if now < end else None
        due = began + next(schedule) * SPANS / rate
        if due >= end:
            return None
        if due > now:
            await asyncio.sleep(due - now)
        return due

    client = grpc_client if transport == "grpc" else http_client
    await asyncio.gather(*(client() for _ in range(clients)))
    took = time.perf_counter() - began
    latencies.sort()
    return {
        "spans_per_s": len(latencies) * SPANS / took,
        "spans": len(latencies) * SPANS,
        "failed": failed,
        "p50_ms": 1000 * latencies[len(latencies) // 2],
        "p99_ms": 1000 * latencies[int(len(latencies) * 0.99)],
    }


def load(port: int, transport: str, seconds: float, payloads: int, clients: int, rate: float) -> dict[str, float]:
    """The generator in its own process."""
    arguments = [
        sys.executable,
        __file__,
        "--generate",
        json.dumps([port, transport, seconds, payloads, clients, rate]),
    ]
    return json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def process_cpu(pids: list[int]) -> float:
    """CPU seconds, user and system, of processes so far."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def peak_mib(pids: list[int]) -> float:
    """Sum of the peaks of resident memory."""
    return sum(int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) for pid in pids) / 1024


def start_worker(task: object) -> subprocess.Popen[bytes]:
    from nexus.wiring.receive_worker import COMMAND

    worker = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(pickle.dumps(task))
    worker.stdin.flush()
    ready = json.loads(worker.stdout.readline())
    assert ready == {"ready": True}, ready
    threading.Thread(target=worker.stdout.read, daemon=True).start()  # its metrics, every second
    return worker


def answer_nothing() -> None:
    """gRPC alone: the receiver's server, with its arguments, which reads requests and answers them."""
    import grpc

    from collector_receiver.sources.grpc_calls import Call, GrpcServer
    from collector_receiver.sources.otlp_grpc import GrpcOptions, channel_arguments

    def take(call: Call) -> None:
        call.read(lambda _: call.finish(grpc.StatusCode.OK, message=b""))

    server = GrpcServer(channel_arguments(GrpcOptions("")), take)
    print(server.listen("127.0.0.1:0"), flush=True)
    server.start()
    threading.Event().wait()


def floor(options: argparse.Namespace) -> float:
    """CPU seconds per million spans that gRPC takes by itself."""
    server = subprocess.Popen([sys.executable, __file__, "--floor"], stdout=subprocess.PIPE)
    assert server.stdout is not None
    try:
        port = int(server.stdout.readline())
        load(port, "grpc", 1, 8, options.clients, 0)
        before = process_cpu([server.pid])
        sent = load(port, "grpc", options.seconds / 2, options.payloads, options.clients, 0)
        return (process_cpu([server.pid]) - before) / sent["spans"] * 1e6
    finally:
        server.kill()
        server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def measure(options: argparse.Namespace) -> None:
    from nexus.settings import load_settings
    from nexus.wiring.receive_worker import Task

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        settings = load_settings({"data": Path(folder), "log": {"max_bytes": 64 * 1024**3}})
        grpc_port, http_port = free_port(), free_port()
        task = Task(settings, "postgresql://127.0.0.1:1/none", f"127.0.0.1:{grpc_port}", f"127.0.0.1:{http_port}")
        workers = [start_worker(task) for _ in range(options.workers)]
        pids = [worker.pid for worker in workers]
        port = grpc_port if options.transport == "grpc" else http_port
        try:
            load(port, options.transport, 2, 8, options.clients, 0)  # warm: imports, allocators
            before = process_cpu(pids)
            full = load(port, options.transport, options.seconds, options.payloads, options.clients, 0)
            cpu = (process_cpu(pids) - before) / full["spans"] * 1e6
            half = load(
                port, options.transport, options.seconds, options.payloads, options.clients * 4, full["spans_per_s"] / 2
            )
            memory = peak_mib(pids)
            log_bytes = sum(path.stat().st_size for path in Path(folder).rglob("*.seg"))
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
    print(
        f"receive, {options.transport}, {options.workers} process(es), batches of {SPANS} spans with nine attributes, generator on the same machine"
    )
    print(
        f"  acknowledged durable spans/s   {full['spans_per_s']:>12,.0f}   {full['spans_per_s'] / TARGET_SPANS_PER_S:.2f} of {TARGET_SPANS_PER_S:,} (failed requests: {full['failed']})"
    )
    print(f"  CPU s per million spans        {cpu:>12.2f}   {cpu / TARGET_CPU_S:.2f} of {TARGET_CPU_S}")
    if options.transport == "grpc":
        alone = floor(options)
        print(
            f"    of them gRPC alone           {alone:>12.2f}   a server that reads requests and answers nothing; the receiver takes {cpu / alone:.1f} times that"
        )
    print(
        f"  acknowledgement at half load   {half['p99_ms']:>9.1f} ms   p99 (p50 {half['p50_ms']:.1f} ms) at {half['spans_per_s']:,.0f} spans/s"
    )
    print(f"  peak memory                    {memory:>8.0f} MiB   of the receiving process(es)")
    print(
        f"  log                            {log_bytes / max(1, full['spans'] + half['spans']):>10.0f} B   per span (with the warm-up's)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generate", help=argparse.SUPPRESS)
    parser.add_argument("--floor", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--transport", choices=("grpc", "http"), default="grpc")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--payloads", type=int, default=32)
    parser.add_argument("--folder", help="where the log is written (default: the system's temporary folder)")
    options = parser.parse_args()
    if options.generate:
        print(json.dumps(asyncio.run(generate(*json.loads(options.generate)))))
    elif options.floor:
        answer_nothing()
    else:
        measure(options)


if __name__ == "__main__":
    main()
