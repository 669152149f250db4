"""Files of each format become the OTLP that their own exporter would have sent."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from replay_taken import TRACE, attributes, take

from collector_receiver.replay.pack import requests
from collector_receiver.replay.run import expand
from nexus.errors import NotFound


def otlp(**span: object) -> dict[str, object]:
    base = {
        "traceId": TRACE,
        "spanId": "00f067aa0ba902b7",
        "name": "op",
        "kind": 3,
        "startTimeUnixNano": "1700000000000000001",
        "endTimeUnixNano": "1700000000000000009",
    }
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "web"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [base | span]}]}]}


def request(count: int = 1, service: str = "web") -> bytes:
    message = ExportTraceServiceRequest()
    resource = message.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = service
    scope = resource.scope_spans.add()
    for number in range(count):
        scope.spans.add(
            trace_id=bytes.fromhex(TRACE),
            span_id=struct.pack(">Q", number + 1),
            name="op",
            kind=2,
            start_time_unix_nano=10,
            end_time_unix_nano=20,
        )
    return message.SerializeToString()


def test_otlp_json_keeps_every_field(tmp_path: Path) -> None:
    report, [(resource, span)] = take(
        tmp_path,
        otlp(
            parentSpanId="0000000000000001",
            traceState="ot=th:8",
            flags=769,
            status={"code": "STATUS_CODE_ERROR", "message": "no"},
            attributes=[
                {"key": "n", "value": {"intValue": "9007199254740993"}},
                {"key": "b", "value": {"boolValue": True}},
                {"key": "d", "value": {"doubleValue": 0.5}},
                {"key": "x", "value": {"bytesValue": base64.b64encode(b"\x00\xff").decode()}},
                {"key": "a", "value": {"arrayValue": {"values": [{"stringValue": "1"}]}}},
            ],
            links=[{"traceId": TRACE, "spanId": "0000000000000002"}],
        ),
    )
    assert (report.format, report.spans, report.accepted, report.error) == ("OTLP JSON", 1, 1, "")
    assert resource == {"service.name": "web"}
    assert span.trace_id.hex() == TRACE
    assert (span.parent_span_id.hex(), span.trace_state, span.flags, span.kind) == (
        "0000000000000001",
        "ot=th:8",
        769,
        3,
    )
    assert (span.status.code, span.status.message) == (2, "no")
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (1700000000000000001, 1700000000000000009)
    found = attributes(span.attributes)
    assert (found["n"], found["b"], found["d"], found["x"]) == (9007199254740993, True, 0.5, b"\x00\xff")
    assert found["a"].values[0].string_value == "1"
    assert span.links[0].span_id.hex() == "0000000000000002"


@pytest.mark.parametrize(
    "wrap",
    [
        lambda body: {"batches": body["resourceSpans"]},
        lambda body: {"trace": body},
        lambda body: {"result": body},
        lambda body: {"resource_spans": body["resourceSpans"]},
    ],
)
def test_otlp_json_of_tempo_and_others(tmp_path: Path, wrap) -> None:
    ids = {
        "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(),
        "spanId": base64.b64encode(bytes.fromhex("00f067aa0ba902b7")).decode(),
    }
    _, [(_, span)] = take(tmp_path, wrap(otlp(**ids, kind="SPAN_KIND_SERVER")))
    assert (span.trace_id.hex(), span.span_id.hex(), span.kind) == (TRACE, "00f067aa0ba902b7", 2)


def test_json_lines_gzip_and_concatenated_documents(tmp_path: Path) -> None:
    lines = b"\n".join(json.dumps(otlp(spanId=f"{n:016x}")).encode() for n in (1, 2, 3))
    assert take(tmp_path, lines)[0].accepted == 3
    assert take(tmp_path, gzip.compress(lines))[0].accepted == 3
    assert take(tmp_path, json.dumps(otlp(), indent=1).encode() * 2)[0].accepted == 2
    assert take(tmp_path, b"\xef\xbb\xbf" + lines)[0].accepted == 3


def test_a_broken_line_is_counted_and_the_others_are_sent(tmp_path: Path) -> None:
    good = json.dumps(otlp()).encode()
    report, spans = take(tmp_path, good + b"\n{broken\n" + good + b"\n")
    assert len(spans) == 2
    assert report.skipped.counts == {"a line that is no JSON": 1}


@pytest.mark.parametrize(
    "framed",
    [
        lambda parts: parts[0],
        lambda parts: b"".join(struct.pack(">I", len(part)) + part for part in parts),
        lambda parts: b"".join(varint(len(part)) + part for part in parts),
        lambda parts: b"\x0a" + varint(len(parts[0])) + parts[0] + b"\x12\x00",
        lambda parts: gzip.compress(parts[0]),
    ],
    ids=["one", "fixed", "varint", "tempo-v2", "gzip"],
)
def test_protobuf_framings(tmp_path: Path, framed) -> None:
    parts = [request(3), request(300, "checkout"), request(1)]
    content = framed(parts)
    report, spans = take(tmp_path, content)
    assert report.format == "OTLP protobuf"
    assert report.accepted == len(spans) == (304 if len(content) > len(parts[1]) else 3)


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def test_a_stream_cut_short_sends_what_is_whole(tmp_path: Path) -> None:
    part = request(5)
    report, spans = take(tmp_path, (struct.pack(">I", len(part)) + part) * 2 + struct.pack(">I", len(part)) + part[:7])
    assert (len(spans), report.skipped.counts) == (10, {"the last message is cut short": 1})


def test_rows_of_spans_with_their_parents(tmp_path: Path) -> None:
    table = (
        b"\xef\xbb\xbfTraceID,SpanID,ParentID,PodName,OperationName,StartTimeUnixNano,EndTimeUnixNano,Duration\n"
        b"a1,b1,root,frontend-579b9bff58-t2dbm,Recv.,1661140374351773094,1661140374362982609,11209\r\n"
        b'a1,b2,b1,cart-0,"svc/Get, all",1661140374351910124,1661140374357482580,5\n'
        b"a1,b3,not-hex,cart-0,x,1,2,3\na1,b4\n\n"
    )
    report, spans = take(tmp_path, gzip.compress(table))
    assert (report.format, report.error, sum(report.skipped.counts.values())) == ("CSV of spans", "", 2)
    (resource, one), (other, two) = spans
    assert (one.kind, one.parent_span_id, one.start_time_unix_nano) == (0, b"", 1661140374351773094)
    assert (two.name, two.parent_span_id, two.trace_id) == ("svc/Get, all", one.span_id, one.trace_id)
    assert [each["service.name"] for each in (resource, other)] == ["frontend", "cart-0"]
    stated = b"trace_id,span_id,parent_span_id,service,kind,name,start_time_unix_nano,end_time_unix_nano\n1,2,,web,Client,x,1,2\n"
    assert take(tmp_path, stated)[1][0][1].kind == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "an empty file"),
        (b"Apache License\nVersion 2.0", "neither JSON nor OTLP protobuf"),
        (b"TraceID,SpanID,Name\n1,2,x\n", "CSV without span kinds"),
        (b"caller,callee,calls\na,b,3\n", "CSV without span ids"),
        ({"resourceLogs": []}, "OTLP logs or metrics"),
        ({"traces": [{"traceID": "1", "rootServiceName": "web"}]}, "search results of Tempo"),
        ([{"parent": "a", "child": "b", "callCount": 1}], "a dependency list"),
        ({"ID": "1", "RootSpan": {}}, "Tracetest"),
        ([{"span_id": "1", "offset_ms": 1}], "relative times"),
        ({"hello": 1}, "no known trace format (its keys: hello)"),
        (b"[1, 2", "no JSON"),
        ([1, 2], "something other than traces"),
        (otlp(spanId="not-hex"), "spanId is not hexadecimal"),
        (b"\x0a\xff\xff\xff\xff\x00\x01\x02", "neither an OTLP protobuf message nor a stream"),
        (gzip.compress(b"x" * 100, mtime=0)[:-4], "gzip"),
    ],
)
def test_files_that_are_not_taken_say_why(tmp_path: Path, content: object, reason: str) -> None:
    report, spans = take(tmp_path, content)
    assert spans == []
    assert reason in report.error


@pytest.mark.parametrize(
    "broken",
    [
        {"attributes": 5},
        {"kind": []},
        {"startTimeUnixNano": "x"},
        {"status": 3},
        {"links": [1]},
        {"attributes": [{"key": "d", "value": {"doubleValue": "x"}}]},
    ],
)
def test_one_misshapen_span_does_not_take_its_file_down(tmp_path: Path, broken: dict[str, object]) -> None:
    content = otlp()
    content["resourceSpans"][0]["scopeSpans"][0]["spans"].append(
        otlp(spanId="01", **broken)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    )
    report, spans = take(tmp_path, content)
    assert len(spans) + sum(report.skipped.counts.values()) == 2
    assert report.accepted >= 1


def test_requests_are_bounded_and_lose_nothing() -> None:
    resources = ExportTraceServiceRequest.FromString(request(1000)).resource_spans
    by_count = list(requests(resources, max_spans=300))
    assert [item.spans for item in by_count] == [300, 300, 300, 100]
    by_size = list(requests(resources, max_bytes=4000))
    assert max(len(item.body) for item in by_size) < 6000
    ids = {
        span.span_id
        for item in by_size
        for r in ExportTraceServiceRequest.FromString(item.body).resource_spans
        for s in r.scope_spans
        for span in s.spans
    }
    assert len(ids) == sum(item.spans for item in by_size) == 1000


def test_folders_are_walked_and_missing_paths_refused(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/2.json", "1.json"):
        (tmp_path / name).touch()
    assert [path.name for path in expand([tmp_path])] == ["1.json", "2.json"]
    with pytest.raises(NotFound, match="no such file"):
        expand([tmp_path / "nowhere"])
