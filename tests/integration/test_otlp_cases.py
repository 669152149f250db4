"""Every receiving case of tests/cases/otlp, over real sockets."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import grpc
import pytest
from google.protobuf.json_format import Parse
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from nexus import telemetry
from nexus.errors import StoreUnavailable
from nexus.model.span import Kind
from nexus.model.span import Status as Code

sys.path.insert(0, str(Path(__file__).parent))
from otlp_harness import Served, serve

CASES = sorted((Path(__file__).parents[1] / "cases" / "otlp").glob("*.json"))
RETRYABLE_GRPC = {"CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"}
RETRYABLE_HTTP = {429, 502, 503, 504}


def test_all_cases_are_here():
    assert len(CASES) >= 54


def body_of(request):
    """Bytes before compression."""
    if "body_json" in request:
        return json.dumps(request["body_json"]).encode()
    if "body_text" in request:
        return request["body_text"].encode()
    if "body_hex" in request:
        return bytes.fromhex(request["body_hex"])
    generate = request["body_generate"]
    message = ExportTraceServiceRequest()
    scope = message.resource_spans.add().scope_spans.add()
    for n in range(generate["spans"]):
        span = scope.spans.add(
            trace_id=(n + 1).to_bytes(16, "big"),
            span_id=(n + 1).to_bytes(8, "big"),
            name="generated",
            start_time_unix_nano=10**18,
            end_time_unix_nano=10**18 + 5,
        )
        span.attributes.add(key="filler").value.string_value = "x" * generate["attribute_bytes"]
    return message.SerializeToString()


def details(error) -> Status:
    raw = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    return Status.FromString(raw) if raw else Status()


def over_grpc(served: Served, request, expect):
    body = body_of(request)
    compression = grpc.Compression.Gzip if request["encoding"] == "gzip" else grpc.Compression.NoCompression
    limits = [("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(f"127.0.0.1:{served.grpc_port}", options=limits, compression=compression) as channel:
        call = channel.unary_unary(f"/{request['method']}")
        try:
            answer = ExportTraceServiceResponse.FromString(call(body, timeout=120))
            code, retry_info = "OK", False
        except grpc.RpcError as error:
            answer, code = None, error.code().name
            retry_info = any(item.Is(RetryInfo.DESCRIPTOR) for item in details(error).details)
    assert code in expect.get("grpc_code_any_of", [expect.get("grpc_code")])
    assert code != "UNKNOWN"
    if "retry_info" in expect:
        assert retry_info == expect["retry_info"]
    if "retryable" in expect:
        assert (code in RETRYABLE_GRPC or (code == "RESOURCE_EXHAUSTED" and retry_info)) == expect["retryable"]
    if code == "OK" and "partial_success" in expect:
        check_partial(answer, expect["partial_success"])


def check_partial(answer: ExportTraceServiceResponse, expected):
    assert answer.HasField("partial_success") == (expected is not None)
    if expected is not None:
        assert answer.partial_success.rejected_spans == expected["rejected_spans"]
        assert answer.partial_success.error_message


def over_http(served: Served, request, expect):
    headers = dict(request["headers"])
    if request["content_type"] is not None:
        headers["Content-Type"] = request["content_type"]
    if request["encoding"] != "identity":
        headers["Content-Encoding"] = request["encoding"]
    body = bytes.fromhex(request["body_wire_hex"]) if "body_wire_hex" in request else body_of(request)
    if request["encoding"] == "gzip" and "body_wire_hex" not in request:
        body = gzip.compress(body)
    status, answered, content = served.post(body, headers, request["path"], request["method"])
    assert status in expect.get("http_status_any_of", [expect.get("http_status")])
    kind = answered["content-type"]
    if "response_content_type" in expect:
        assert kind == expect["response_content_type"]
    read = (
        (lambda message: Parse(content, message))
        if kind == "application/json"
        else (lambda message: (message.ParseFromString(content), message)[1])
    )
    if status >= 400:
        # Every refusal has a Status for a body, also where the case does not say so.
        refused = read(Status())
        assert refused.message
        assert expect.get("status_message_mentions", "").lower() in refused.message.lower()
    if expect.get("retry_after"):
        assert int(answered["retry-after"]) >= 1
    if "retryable" in expect:
        assert (status in RETRYABLE_HTTP) == expect["retryable"]
    if "response_json" in expect:
        assert json.loads(content) == expect["response_json"]
    if "response_hex" in expect:
        assert content.hex() == expect["response_hex"]
    if status == 200 and "partial_success" in expect:
        check_partial(read(ExportTraceServiceResponse()), expect["partial_success"])


def decoded(row, name):
    """A field of a stored span as the cases write it."""
    match name:
        case "trace" | "span" | "parent":
            return row[{"trace": "trace_id", "span": "span_id", "parent": "parent_id"}[name]].hex()
        case "kind":
            return Kind(row["kind"]).name
        case "status":
            return Code(row["status"]).name
        case "service":
            return row["service_name"] or "(unnamed)"
        case "links":
            return [{"trace": link["trace_id"].hex(), "span": link["span_id"].hex()} for link in row["links"]]
        case "links_usable":
            return len(row["links"])
    return row[name]


def as_text(value):
    """An attribute's value as it is stored: text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))


def check_span(row, expected):
    for name, value in expected.items():
        if name == "attributes":
            stored = {item["key"]: item["value"] for item in row["attributes"]}
            assert stored == {key: as_text(item) for key, item in value.items() if item is not None}
            assert row["attribute_count"] == len(value)
        else:
            assert decoded(row, name) == value, name


def attribute_names(case) -> frozenset[str]:
    return frozenset(name for span in case["expect"].get("spans", ()) for name in span.get("attributes", ()))


def away(spans):
    raise StoreUnavailable("the log is away (a test)")


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_case(path, tmp_path):
    case = json.loads(path.read_text())
    setup, request, expect = case["setup"], case["request"], case["expect"]
    limits = {"max_request_bytes": setup["max_request_bytes"]} if "max_request_bytes" in setup else {}
    served = serve(tmp_path / "spans", allowed=attribute_names(case), **limits)
    send = over_grpc if request["transport"] == "grpc" else over_http
    warnings = telemetry.OTLP_WARNINGS.labels("unknown_json")._value.get()
    try:
        if "store" in setup:
            served.log.fail = away
        for _ in range(expect.get("repeat", 1)):
            send(served, request, expect)
        stored = served.spans()
        assert len(stored) == expect["spans_accepted"]
        if "distinct_spans" in expect:
            assert (
                len(stored.select("trace_id", "span_id", "kind", "service_name").unique()) == expect["distinct_spans"]
            )
        for row, wanted in zip(stored.to_dicts(), expect.get("spans", ()), strict=False):
            check_span(row, wanted)
        rejected = (expect.get("partial_success") or {}).get("rejected_spans", 0)
        if expect["spans_accepted"]:
            assert sum(item.count for item in served.rejected()) == rejected
        if expect.get("warning_counted"):
            assert telemetry.OTLP_WARNINGS.labels("unknown_json")._value.get() == warnings + 1
    finally:
        served.stop()
