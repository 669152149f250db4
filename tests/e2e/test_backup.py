"""Backup beside a running service that goes on receiving; restored elsewhere, the edges are those of the moment of the backup."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from pathlib import Path

import grpc
from nexus_up import NEXUS, Up
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
BASE_NS = 1_768_478_400_000_000_000


def request(caller: str, number: int, size: int) -> bytes:
    """`size` calls of `caller` to `stock`, each a trace of its own."""
    body = ExportTraceServiceRequest()
    scopes = []
    for service in (caller, "stock"):
        block = body.resource_spans.add()
        attribute = block.resource.attributes.add()
        attribute.key, attribute.value.string_value = "service.name", service
        scopes.append(block.scope_spans.add())
    for index in range(size):
        digest = hashlib.sha256(f"{caller}/{number}/{index}".encode()).digest()
        start = BASE_NS + (number * size + index) * 1_000_000
        client = scopes[0].spans.add(
            trace_id=digest[:16],
            span_id=digest[16:24],
            kind=3,
            name="call",
            start_time_unix_nano=start,
            end_time_unix_nano=start + 5_000_000 + index * 1000,
        )
        scopes[1].spans.add(
            trace_id=digest[:16],
            span_id=digest[24:32],
            parent_span_id=client.span_id,
            kind=2,
            name="call",
            start_time_unix_nano=start + 1_000_000,
            end_time_unix_nano=start + 4_000_000,
        )
    return body.SerializeToString()


def send(up: Up, caller: str, number: int, size: int = 50) -> None:
    with grpc.insecure_channel(up.grpc) as channel:
        channel.unary_unary(EXPORT)(request(caller, number, size), timeout=120)


def nexus(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(NEXUS), *arguments], capture_output=True, text=True, check=False, timeout=120)


def edges(up: Up) -> list[dict[str, object]]:
    up.post("/otel/aggregate", {"settle": True})
    found = up.get("/edges")["edges"]
    # When an edge was written is the installation's, not the edge's.
    return sorted(found, key=lambda edge: edge["source"]["name"])


def test_what_was_acknowledged_before_is_there_and_what_came_after_is_not(up: Up, tmp_path: Path) -> None:
    for number in range(5):
        send(up, "shop", number)
    before = edges(up)
    assert [(edge["source"]["name"], edge["calls"]) for edge in before] == [("shop", 250)]
    # Acknowledged and perhaps not rolled up yet: the copy of the log has them.
    send(up, "till", 0)
    stop = threading.Event()
    sent = []

    def go_on() -> None:
        while not stop.is_set():
            send(up, "late", len(sent), 5)
            sent.append(1)

    sender = threading.Thread(target=go_on)
    sender.start()
    file = tmp_path / "first.zip"
    made = nexus("backup", str(file), "--data", str(up.data), "--json")
    stop.set()
    sender.join()
    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o077 == 0
    assert json.loads(made.stdout)["bytes"] == file.stat().st_size
    assert sent
    send(up, "after", 0)
    now = {edge["source"]["name"]: edge for edge in edges(up)}
    assert set(now) == {"shop", "till", "late", "after"}
    assert up.stop() == 0
    assert not list(up.data.glob(".backup-*"))

    elsewhere = Up(tmp_path / "elsewhere" / "data")
    restored = nexus("restore", str(file), "--data", str(elsewhere.data))
    assert restored.returncode == 0, restored.stderr
    elsewhere.start()
    try:
        found = {edge["source"]["name"]: edge for edge in edges(elsewhere)}
        assert "after" not in found
        assert found["shop"] == now["shop"]
        assert found["till"] == now["till"]
        # Whole requests, each once: those that were acknowledged before the moment of the backup.
        assert found.get("late", {"calls": 0})["calls"] % 5 == 0
        assert found.get("late", {"calls": 0})["calls"] <= now["late"]["calls"]
        # It is a whole installation: it receives, and repeats are known as such from the working spans.
        send(elsewhere, "shop", 4)
        send(elsewhere, "after", 0)
        again = {edge["source"]["name"]: edge for edge in edges(elsewhere)}
        assert again["shop"]["calls"] == 250
        assert again["after"]["calls"] == 50
    finally:
        elsewhere.stop()
