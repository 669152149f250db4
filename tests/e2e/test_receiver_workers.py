"""Receiving processes that share the ports: all take requests, a dead one is replaced, their metrics add up."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import pickle
import signal
import subprocess
import sys
from types import SimpleNamespace

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from ports import free_address

from collector_receiver.log.folder import writers
from collector_receiver.log.reader import LocalSpanLogReader
from nexus import telemetry
from nexus.errors import ConfigError
from nexus.settings import load_settings
from nexus.wiring.event_loop import run
from nexus.wiring.provide.span_log_writer import FOLDER
from nexus.wiring.receive_pool import ReceivePool
from nexus.wiring.receive_worker import Task
from nexus.wiring.roles.receive import ReceiveRole
from nexus.wiring.worker_metrics import WorkerMetrics, snapshot

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def batch(n: int) -> bytes:
    message = ExportTraceServiceRequest()
    message.resource_spans.add().scope_spans.add().spans.add(
        trace_id=n.to_bytes(16, "big"), span_id=n.to_bytes(8, "big"), start_time_unix_nano=1
    )
    return message.SerializeToString()


async def export(address: str, n: int) -> None:
    """On a connection of its own, so that the kernel picks a process anew; tried again as a sender would."""
    for _ in range(100):
        async with grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            try:
                await channel.unary_unary(METHOD)(batch(n), timeout=120)
            except grpc.aio.AioRpcError as error:
                assert error.code().name in {"UNAVAILABLE", "CANCELLED"}  # noqa: PT017
                await asyncio.sleep(0.1)
            else:
                return
    raise AssertionError("never taken")


def post(address: str, n: int) -> None:
    connection = http.client.HTTPConnection(address, timeout=120)
    connection.request("POST", "/v1/traces", batch(n), {"Content-Type": "application/x-protobuf"})
    assert connection.getresponse().status == 200
    connection.close()


def test_workers_share_the_ports_and_a_dead_one_is_replaced(tmp_path, clock):
    address, http_address = free_address(), free_address()
    settings = load_settings({"data": tmp_path, "otlp": {"workers": 2, "grpc": address, "http": http_address}})
    runtime = SimpleNamespace(addresses={}, settings=settings, database=SimpleNamespace(url=""))

    async def scenario() -> None:
        role = ReceiveRole(runtime)
        await role.start()
        running = asyncio.create_task(role.run())
        pool: ReceivePool = role._pool
        try:
            await asyncio.gather(*(export(address, n) for n in range(1, 41)))
            assert len(writers(tmp_path / FOLDER)) == 2
            os.kill(pool._workers[0].process.pid, signal.SIGKILL)
            await asyncio.gather(*(export(address, n) for n in range(41, 61)))
            while pool._workers[0].process.returncode is not None or not pool._workers[0].ready.is_set():
                await asyncio.sleep(0.1)
            await asyncio.gather(*(export(address, n) for n in range(61, 81)))
            await asyncio.gather(*(asyncio.to_thread(post, http_address, n) for n in range(81, 101)))
            with pytest.raises(ConfigError, match="NEXUS_OTLP__GRPC"):
                await ReceivePool(runtime).start()
        finally:
            await role.stop()
            await running

    before = telemetry.OTLP_SPANS._value.get()
    run(scenario())
    frame, _ = LocalSpanLogReader(tmp_path / FOLDER, clock).read({}, 10_000)
    assert sorted({int.from_bytes(i, "big") for i in frame["trace_id"].to_list()}) == list(range(1, 101))
    # The killed one took its last second of counts with it.
    assert 60 <= telemetry.OTLP_SPANS._value.get() - before <= 100


NOISY = """
import structlog
from nexus.errors import StoreUnavailable
from nexus.wiring import receive_worker

def noisy(*_, **__):
    print("a library talks")
    structlog.get_logger().warning("a log line")
    raise StoreUnavailable("no disk")

receive_worker.build_receiver = noisy
receive_worker.main()
"""


def test_what_a_worker_logs_is_read_by_people_and_not_by_its_parent(tmp_path):
    task = Task(load_settings({"data": tmp_path}), "", "127.0.0.1:0", "127.0.0.1:0")
    worker = subprocess.run([sys.executable, "-c", NOISY], input=pickle.dumps(task), capture_output=True, check=False)
    assert [json.loads(line) for line in worker.stdout.splitlines()] == [{"failed": "no disk"}]
    assert b"a library talks" in worker.stderr
    assert b"a log line" in worker.stderr


def test_metrics_of_workers_add_up_and_gauges_of_dead_ones_go():
    metrics = WorkerMetrics()
    start = {
        sample.name: sample.value
        for sample in telemetry.OTLP_BATCH_SPANS.collect()[0].samples
        if sample.name.endswith(("_count", "_sum"))
    }
    spans = telemetry.OTLP_SPANS._value.get()
    empty = [(name, sample, labels, 0.0) for name, sample, labels, _ in snapshot()]

    def report(worker: int, count: float, connections: float) -> None:
        changed = []
        for name, sample, labels, value in empty:
            if name == "nexus_otlp_spans":
                value = count * 7
            elif name == "nexus_otlp_batch_spans":
                value = (
                    count * 7
                    if sample.endswith("_sum")
                    else count
                    if sample.endswith("_count") or float(labels["le"]) >= 10
                    else 0.0
                )
            elif name == "nexus_otlp_http_connections":
                value = connections
            changed.append((name, sample, labels, value))
        metrics.report(worker, changed)

    report(0, 1, 3)
    report(1, 2, 4)
    report(0, 5, 5)
    assert telemetry.OTLP_SPANS._value.get() - spans == 7 * 7
    now = {
        sample.name: sample.value
        for sample in telemetry.OTLP_BATCH_SPANS.collect()[0].samples
        if sample.name.endswith(("_count", "_sum"))
    }
    assert now["nexus_otlp_batch_spans_count"] - start["nexus_otlp_batch_spans_count"] == 7
    assert now["nexus_otlp_batch_spans_sum"] - start["nexus_otlp_batch_spans_sum"] == 49
    assert telemetry.OTLP_CONNECTIONS._value.get() == 9
    metrics.gone(0)
    assert telemetry.OTLP_CONNECTIONS._value.get() == 4
    report(0, 1, 0)  # started again, counts from zero
    assert telemetry.OTLP_SPANS._value.get() - spans == 8 * 7
