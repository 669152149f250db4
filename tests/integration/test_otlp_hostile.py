"""Clients that overload the receiver or mean harm: bounded, refused early, and no concern of the others."""

from __future__ import annotations

import gzip
import json
import resource
import socket
import sys
import threading
from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from waiting import until

from collector_receiver.sources.http_connection import HttpTimeouts
from nexus.errors import Overloaded

sys.path.insert(0, str(Path(__file__).parent))
from otlp_harness import HEAD, METHOD, body, export, serve


@pytest.fixture
def served(tmp_path):
    server = serve(tmp_path / "spans")
    yield server
    server.stop()


# Overload


def retry_delay(error: grpc.RpcError) -> float | None:
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    info = RetryInfo()
    return (
        info.retry_delay.ToTimedelta().total_seconds()
        if details and Status.FromString(details).details[0].Unpack(info)
        else None
    )


def test_a_full_log_is_refused_with_a_time_to_wait_on_both_transports(served):
    def full(spans):
        raise Overloaded("full", retry_after=7)

    served.log.fail = full
    with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel, pytest.raises(grpc.RpcError) as refused:
        channel.unary_unary(METHOD)(body(), timeout=120)
    assert refused.value.code().name == "RESOURCE_EXHAUSTED"
    assert retry_delay(refused.value) == 7
    status, headers, content = served.post(body())
    assert (status, headers["retry-after"]) == (503, "7")
    assert Status.FromString(content).message == "full"
    served.log.fail = lambda spans: None
    assert export(served, body()) == "OK"


def test_a_bug_is_an_outage_to_senders_and_the_next_request_is_taken(served):
    def bug(spans):
        raise KeyError("secret")

    served.log.fail = bug
    assert export(served, body()) == "UNAVAILABLE"
    status, headers, content = served.post(body())
    assert status == 503
    assert "retry-after" in headers
    assert b"secret" not in content
    served.log.fail = lambda spans: None
    assert served.post(body())[0] == 200


def test_bytes_in_flight_are_bounded_and_what_is_over_is_asked_to_retry(tmp_path):
    served = serve(tmp_path / "spans", max_in_flight_bytes=3_000_000)
    entered, release = threading.Event(), threading.Event()

    def stuck(spans):
        entered.set()
        release.wait(120)

    served.log.fail = stuck
    statuses: list[int] = []
    try:
        large = body(spans=20, filler=100_000)
        first = threading.Thread(target=lambda: statuses.append(served.post(large)[0]))
        first.start()
        assert entered.wait(120)
        status, headers, _ = served.post(large)
        assert status == 503
        assert headers["retry-after"]
        with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel, pytest.raises(grpc.RpcError) as refused:
            channel.unary_unary(METHOD)(large, timeout=120)
        assert refused.value.code().name == "RESOURCE_EXHAUSTED"
        assert retry_delay(refused.value) is not None
        assert served.receiver._budget.used <= 3_000_000
        release.set()
        first.join()
        served.log.fail = lambda spans: None
        assert statuses == [200]
        assert served.post(large)[0] == 200
        assert served.receiver._budget.used == 0
    finally:
        release.set()
        served.stop()


def test_more_reads_than_allowed_wait_in_their_senders_and_then_are_refused(tmp_path):
    served = serve(
        tmp_path / "spans",
        grpc_max_reads=1,
        grpc_read_wait=timedelta(milliseconds=200),
        grpc_read_timeout=timedelta(seconds=120),
    )
    try:
        with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel:
            go = threading.Event()

            def never():
                go.wait(120)
                yield body(first=9)

            slow = channel.stream_unary(METHOD).future(never(), timeout=120)
            until(lambda: served.receiver._grpc._reading)
            with pytest.raises(grpc.RpcError) as refused:
                channel.unary_unary(METHOD)(body(), timeout=120)
            assert refused.value.code().name == "RESOURCE_EXHAUSTED"
            assert retry_delay(refused.value) is not None
            go.set()
            slow.result(120)
            assert export(served, body()) == "OK"
    finally:
        served.stop()


def test_a_message_that_does_not_arrive_is_given_up(tmp_path):
    served = serve(tmp_path / "spans", grpc_read_timeout=timedelta(milliseconds=300))
    try:
        with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}") as channel:
            done = threading.Event()

            def never():
                done.wait(120)
                yield body()

            call = channel.stream_unary(METHOD).future(never(), timeout=120)
            assert call.code().name == "RESOURCE_EXHAUSTED"
            done.set()
    finally:
        served.stop()


# Bombs


@pytest.mark.parametrize("members", [1, 40])
def test_gzip_bombs_are_refused_at_the_limit(tmp_path, members):
    served = serve(tmp_path / "spans", max_request_bytes=1_000_000)
    bomb = gzip.compress(bytes(40_000_000 // members), mtime=0) * members
    try:
        status, _, content = served.post(bomb, {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"})
        assert status == 413
        assert "1000000" in Status.FromString(content).message
        with (
            grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}", compression=grpc.Compression.Gzip) as channel,
            pytest.raises(grpc.RpcError) as refused,
        ):
            channel.unary_unary(METHOD)(bytes(20_000_000), timeout=120)
        assert refused.value.code().name == "RESOURCE_EXHAUSTED"
        assert retry_delay(refused.value) is None
        assert served.receiver._budget.used == 0
    finally:
        served.stop()


@pytest.mark.parametrize(
    "wire",
    [b"", gzip.compress(b"x", mtime=0)[:-4], gzip.compress(body(), mtime=0) + b"junk", b"\x1f\x8b"],
    ids=["empty", "cut", "junk-behind", "header-only"],
)
def test_what_is_no_whole_gzip_is_bad_data(served, wire):
    assert served.post(wire, {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"})[0] == 400


def test_gzip_in_several_members_is_one_body(served):
    content = body(spans=3)
    assert (
        served.post(
            gzip.compress(content[:40], mtime=0) + gzip.compress(content[40:], mtime=0),
            {"Content-Type": "application/x-protobuf", "Content-Encoding": "GZIP"},
        )[0]
        == 200
    )
    assert len(served.spans()) == 3


def test_a_hundred_thousand_attributes_and_deep_values_are_taken_and_scrubbed(served):
    message = ExportTraceServiceRequest()
    span = (
        message.resource_spans.add()
        .scope_spans.add()
        .spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, start_time_unix_nano=1)
    )
    for n in range(100_000):
        span.attributes.add(key=f"key.{n}").value.int_value = n
    assert served.post(message.SerializeToString())[0] == 200
    deep = b"\x0a\x03end"
    for _ in range(3000):  # deeper than any decoder's stack
        array = b"\x0a" + varint(len(deep)) + deep
        deep = b"\x2a" + varint(len(array)) + array
    key_value = b"\x0a\x0ahttp.route\x12" + varint(len(deep)) + deep
    wire = one_span(b"\x4a" + varint(len(key_value)) + key_value)
    assert served.post(wire)[0] == 200
    assert export(served, wire) == "OK"
    nested = json.dumps(
        {
            "resourceSpans": [
                {
                    "scopeSpans": [
                        {
                            "spans": [
                                {
                                    "traceId": "ab" * 16,
                                    "spanId": "cd" * 8,
                                    "startTimeUnixNano": 1,
                                    "attributes": [{"key": "http.route", "value": "@"}],
                                }
                            ]
                        }
                    ]
                }
            ]
        }
    )
    value = '{"arrayValue":{"values":[' * 200 + "{}" + "]}}" * 200
    assert served.post(nested.replace('"@"', value).encode(), {"Content-Type": "application/json"})[0] == 200
    value = '{"arrayValue":{"values":[' * 100_000 + "{}" + "]}}" * 100_000
    assert served.post(nested.replace('"@"', value).encode(), {"Content-Type": "application/json"})[0] == 400
    frame = served.spans()
    assert frame["attribute_count"].to_list() == [100_000, 1, 1, 1]
    assert frame["attributes"].list.len().to_list()[0] == 0


def varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def one_span(extra: bytes) -> bytes:
    span = b"\x0a\x10" + b"t" * 16 + b"\x12\x08" + b"s" * 8 + b"\x39" + (5).to_bytes(8, "little") + extra
    scope = b"\x12" + varint(len(span)) + span
    block = b"\x12" + varint(len(scope)) + scope
    return b"\x0a" + varint(len(block)) + block


# Connections


def test_slow_clients_are_closed_and_others_are_served_meanwhile(tmp_path):
    served = serve(
        tmp_path / "spans",
        http_timeouts=HttpTimeouts(header=0.5, idle=0.5, body=0.5, min_bytes_per_s=10_000_000, linger=0.3),
    )
    address = ("127.0.0.1", served.http_port)
    try:
        slow = [socket.create_connection(address, timeout=120) for _ in range(100)]
        for n, client in enumerate(slow):
            client.sendall((HEAD if n % 2 else HEAD + "Content-Length: 50\r\n\r\nab").encode())
        assert served.post(body())[0] == 200
        for client in slow:
            while client.recv(1000):
                pass
            client.close()
        assert served.receiver._budget.used == 0
    finally:
        served.stop()


def test_at_the_limit_of_connections_the_oldest_idle_one_makes_room(tmp_path):
    served = serve(tmp_path / "spans", http_max_connections=50)
    address = ("127.0.0.1", served.http_port)
    try:
        held = [socket.create_connection(address, timeout=120) for _ in range(200)]
        for client in held:
            client.sendall(b"POST /v1/tr")
        assert served.post(body())[0] == 200
        assert len(served.receiver._http._connections) <= 50
        for client in held:
            client.close()
    finally:
        served.stop()


def test_thousands_of_connections_that_send_nothing_are_no_concern_of_a_sender(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    many = min(4000, (hard - 200) // 2) if hard != resource.RLIM_INFINITY else 4000
    resource.setrlimit(
        resource.RLIMIT_NOFILE,
        (max(soft, min(2 * many + 200, hard if hard != resource.RLIM_INFINITY else 2 * many + 200)), hard),
    )
    served = serve(tmp_path / "spans", http_max_connections=1000)
    held = []
    try:
        for n in range(many):
            held.append(
                socket.create_connection(("127.0.0.1", served.http_port if n % 2 else served.grpc_port), timeout=120)
            )
        assert served.post(body(first=1))[0] == 200
        assert export(served, body(first=2)) == "OK"
        assert len(served.receiver._http._connections) <= 1000
    finally:
        for client in held:
            client.close()
        served.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
