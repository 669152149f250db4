"""The whole service while its database is away: it goes on taking spans, refuses with a retry time only at its log's limit, and counts each once in the end."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.error
from typing import Any

import grpc
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from nexus_up import Up
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from waiting import until

from nexus.store.embedded import EmbeddedPostgres

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
CALLS = 500


def calls(number: int) -> bytes:
    """A request with `CALLS` calls of `shop` to `cart`, each a trace of its own."""
    message = ExportTraceServiceRequest()
    scopes = []
    for name in ("shop", "cart"):
        block = message.resource_spans.add()
        block.resource.attributes.add(key="service.name").value.string_value = name
        scopes.append(block.scope_spans.add())
    start = time.time_ns()
    for n in range(CALLS):
        trace = os.urandom(8) + number.to_bytes(4, "big") + n.to_bytes(4, "big")
        for scope, kind, own, parent in ((scopes[0], 3, b"c" * 8, b""), (scopes[1], 2, b"s" * 8, b"c" * 8)):
            scope.spans.add(
                trace_id=trace,
                span_id=own,
                parent_span_id=parent,
                name=f"op {number}",
                kind=kind,
                start_time_unix_nano=start,
                end_time_unix_nano=start + 1000,
            )
    return message.SerializeToString()


def send(export: Any, body: bytes, seconds: float = 60) -> None:
    """Send until it is taken: what a collector's queue does."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            export(body, timeout=120)
        except grpc.RpcError as error:
            assert error.code().name in {"RESOURCE_EXHAUSTED", "UNAVAILABLE"}
            assert time.monotonic() < deadline, error.details()
            time.sleep(0.3)
        else:
            return


def retry_after(error: grpc.RpcError) -> float:
    details = dict(error.trailing_metadata())["grpc-status-details-bin"]
    info = RetryInfo()
    assert Status.FromString(details).details[0].Unpack(info)
    return info.retry_delay.seconds + info.retry_delay.nanos / 1e9


def status(up: Up) -> tuple[int, dict[str, Any]]:
    try:
        return 200, up.get("/status")
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def counted(up: Up) -> tuple[int, int]:
    up.post("/otel/aggregate", {"settle": True})
    [edge] = up.get("/edges?limit=10")["edges"]
    return edge["calls"], edge["handled"]


def test_spans_taken_while_the_database_is_away_are_counted_once(tmp_path):
    database = EmbeddedPostgres(tmp_path)
    # The smallest log there is: a megabyte of spans fills it.
    limits = {
        "NEXUS_LOG__MAX_BYTES": str(1024 * 1024),
        "NEXUS_LOG__SEGMENT_BYTES": str(64 * 1024),
        "NEXUS_LOG__KEEP": "0",
    }
    up = Up(tmp_path / "data", environment={"NEXUS_DATABASE__URL": database.start(), **limits})
    try:
        up.start()
        with grpc.insecure_channel(up.grpc) as channel:
            export = channel.unary_unary(METHOD)
            export(calls(0), timeout=120)
            database.stop()
            until(lambda: status(up)[0] == 503, "the status does not tell of the outage")
            assert status(up)[1]["code"] == "store_unavailable"
            taken, refused = 1, None
            while refused is None:
                assert taken < 1000, "the log has no limit"
                try:
                    export(calls(taken), timeout=120)
                    taken += 1
                except grpc.RpcError as error:
                    refused = error
            # Many requests after the database went, and none was refused for that.
            assert taken > 10
            assert refused.code().name == "RESOURCE_EXHAUSTED"
            assert retry_after(refused) > 0
            database.start()
            send(export, calls(taken))
            taken += 1
        until(lambda: status(up)[0] == 200, "the status does not recover")
        assert counted(up) == (taken * CALLS, taken * CALLS)
        assert up.stop() == 0
    finally:
        up.stop()
        database.stop()


def test_an_embedded_database_that_is_killed_is_started_again(tmp_path):
    up = Up(tmp_path / "data")

    def postmaster() -> int | None:
        """Its process id; none while a start is replacing the file that tells it."""
        try:
            return int((up.data / "postgres" / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return None

    try:
        up.start()
        with grpc.insecure_channel(up.grpc) as channel:
            export = channel.unary_unary(METHOD)
            export(calls(0), timeout=120)
            killed = postmaster()
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            export(calls(1), timeout=120)
            until(
                lambda: postmaster() not in (killed, None) and status(up)[0] == 200, "the database is not started again"
            )
            export(calls(2), timeout=120)
        assert counted(up) == (3 * CALLS, 3 * CALLS)
        assert up.stop() == 0
    finally:
        up.stop()
