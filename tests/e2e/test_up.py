"""`nexus up` as a newcomer meets it: starts, refuses what cannot work in one line, loses nothing when killed."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import subprocess
import threading
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from nexus.wiring.process import DATABASE_URL_FILE

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
BASE_NS = 1_768_478_400_000_000_000


def run(nexus: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")}
    return subprocess.run(
        [str(nexus), *arguments], capture_output=True, text=True, check=False, timeout=240, env=clean | environment
    )


@pytest.fixture
def nexus() -> Path:
    import sys

    return Path(sys.executable).parent / "nexus"


def test_one_clear_line_and_the_documented_code(nexus: Path, tmp_path: Path) -> None:
    typo = run(nexus, "check", NEXUS_OTPL__AUTH="none", NEXUS_HTTP__ADDRESS="nowhere")
    assert typo.returncode == 78
    assert "NEXUS_OTPL__AUTH" in typo.stderr
    assert "NEXUS_HTTP__ADDRESS" in typo.stderr
    assert len(typo.stderr.strip().splitlines()) == 2
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run(
            nexus,
            "up",
            "--data",
            str(tmp_path / "d"),
            "--http",
            address,
            "--otlp-grpc",
            "127.0.0.1:0",
            "--otlp-http",
            "127.0.0.1:0",
        )
    assert result.returncode == 78
    assert address in result.stderr
    assert "Traceback" not in result.stderr
    (tmp_path / "file").write_text("in the way")
    unusable = run(nexus, "up", "--data", str(tmp_path / "file"))
    assert unusable.returncode == 78
    assert "Traceback" not in unusable.stderr


def test_it_says_where_it_is_ready_refuses_a_second_and_stops_in_order(up, nexus: Path) -> None:
    assert re.search(r"^ready  .*" + re.escape(up.url), up.log(), re.MULTILINE)
    second = run(nexus, "up", "--data", str(up.data))
    assert second.returncode == 75
    assert "already uses the data folder" in second.stderr
    sockets = Path((up.data / DATABASE_URL_FILE).read_text().partition("host=")[2])
    assert sockets.is_dir()
    assert up.stop() == 0
    assert not list(up.data.glob("postgres/postmaster.pid"))
    assert not sockets.exists()


def batch(number: int, size: int) -> bytes:
    """A request of `size` client/server pairs; ids are a function of the number."""
    request = ExportTraceServiceRequest()
    scopes = {}
    for service in ("a", "b"):
        block = request.resource_spans.add()
        attribute = block.resource.attributes.add()
        attribute.key, attribute.value.string_value = "service.name", service
        scopes[service] = block.scope_spans.add()
    for index in range(size):
        digest = hashlib.sha256(f"{number}/{index}".encode()).digest()
        start = BASE_NS + (number * size + index) * 1_000_000
        client = scopes["a"].spans.add(
            trace_id=digest[:16],
            span_id=digest[16:24],
            kind=3,
            name="call",
            start_time_unix_nano=start,
            end_time_unix_nano=start + 5_000_000,
        )
        scopes["b"].spans.add(
            trace_id=digest[:16],
            span_id=digest[24:32],
            parent_span_id=client.span_id,
            kind=2,
            name="call",
            start_time_unix_nano=start + 1_000_000,
            end_time_unix_nano=start + 4_000_000,
        )
    return request.SerializeToString()


@pytest.mark.slow
def test_killed_under_load_every_acknowledged_span_counts_once(up) -> None:
    acknowledged: set[int] = set()
    stop = threading.Event()
    counter = iter(range(100_000))
    lock = threading.Lock()
    size = 50

    def sender() -> None:
        while not stop.is_set():
            with lock:
                number = next(counter)
            body = batch(number, size)
            while not stop.is_set():
                try:
                    with grpc.insecure_channel(up.grpc) as channel:
                        channel.unary_unary(EXPORT)(body, timeout=5)
                except grpc.RpcError:
                    stop.wait(0.05)
                else:
                    acknowledged.add(number)
                    break

    threads = [threading.Thread(target=sender) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        stop.wait(1.5)
        up.kill()
        up.start()
    stop.wait(1)
    stop.set()
    for thread in threads:
        thread.join()
    # What was sent but not acknowledged may count or not; send it again, so that the right number is known.
    everything = max(acknowledged) + 1
    with grpc.insecure_channel(up.grpc) as channel:
        for number in range(everything + len(threads)):
            if number not in acknowledged:
                channel.unary_unary(EXPORT)(batch(number, size), timeout=120)
        everything += len(threads)
    up.post("/otel/aggregate", {"settle": True})
    edges = up.get("/edges")["edges"]
    assert [(e["source"]["name"], e["target"]["name"], e["calls"], e["handled"]) for e in edges] == [
        ("a", "b", everything * size, everything * size)
    ]
