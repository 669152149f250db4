"""Files of each format become the OTLP that their own exporter would have sent."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector_receiver.replay.pack import requests
from collector_receiver.replay.run import FileReport, expand, replay
from nexus.errors import NotFound

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Kept:
    """A receiver that keeps what it gets."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def send(self, body: bytes) -> tuple[int, str]:
        self.bodies.append(body)
        return 0, ""

    def close(self) -> None:
        pass

    def spans(self) -> list[tuple[dict[str, object], Span]]:
        found = []
        for body in self.bodies:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                about = attributes(resource.resource.attributes)
                found += [(about, span) for scope in resource.scope_spans for span in scope.spans]
        return sorted(found, key=lambda item: (item[1].trace_id, item[1].span_id, item[1].kind))


def attributes(pairs) -> dict[str, object]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}


def take(tmp_path: Path, content: object, name: str = "file") -> tuple[FileReport, list[tuple[dict[str, object], Span]]]:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    kept = Kept()
    return replay(path, kept, retry_for_s=0), kept.spans()


def otlp(**span: object) -> dict[str, object]:
    base = {"traceId": TRACE, "spanId": "00f067aa0ba902b7", "name": "op", "kind": 3, "startTimeUnixNano": "1700000000000000001", "endTimeUnixNano": "1700000000000000009"}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "web"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [base | span]}]}]}


def request(count: int = 1, service: str = "web") -> bytes:
    message = ExportTraceServiceRequest()
    resource = message.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = service
    scope = resource.scope_spans.add()
    for number in range(count):
        scope.spans.add(trace_id=bytes.fromhex(TRACE), span_id=struct.pack(">Q", number + 1), name="op", kind=2, start_time_unix_nano=10, end_time_unix_nano=20)
    return message.SerializeToString()


def test_otlp_json_keeps_every_field(tmp_path: Path) -> None:
    report, [(resource, span)] = take(tmp_path, otlp(
        parentSpanId="0000000000000001", traceState="ot=th:8", flags=769, status={"code": "STATUS_CODE_ERROR", "message": "no"},
        attributes=[{"key": "n", "value": {"intValue": "9007199254740993"}}, {"key": "b", "value": {"boolValue": True}},
                    {"key": "d", "value": {"doubleValue": 0.5}}, {"key": "x", "value": {"bytesValue": base64.b64encode(b"\x00\xff").decode()}},
                    {"key": "a", "value": {"arrayValue": {"values": [{"stringValue": "1"}]}}}],
        links=[{"traceId": TRACE, "spanId": "0000000000000002"}],
    ))
    assert (report.format, report.spans, report.accepted, report.error) == ("OTLP JSON", 1, 1, "")
    assert resource == {"service.name": "web"}
    assert span.trace_id.hex() == TRACE
    assert (span.parent_span_id.hex(), span.trace_state, span.flags, span.kind) == ("0000000000000001", "ot=th:8", 769, 3)
    assert (span.status.code, span.status.message) == (2, "no")
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (1700000000000000001, 1700000000000000009)
    found = attributes(span.attributes)
    assert (found["n"], found["b"], found["d"], found["x"]) == (9007199254740993, True, 0.5, b"\x00\xff")
    assert found["a"].values[0].string_value == "1"
    assert span.links[0].span_id.hex() == "0000000000000002"


@pytest.mark.parametrize("wrap", [
    lambda body: {"batches": body["resourceSpans"]},
    lambda body: {"trace": body},
    lambda body: {"result": body},
    lambda body: {"resource_spans": body["resourceSpans"]},
])
def test_otlp_json_of_tempo_and_others(tmp_path: Path, wrap) -> None:
    ids = {"traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(), "spanId": base64.b64encode(bytes.fromhex("00f067aa0ba902b7")).decode()}
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


@pytest.mark.parametrize("framed", [
    lambda parts: parts[0],
    lambda parts: b"".join(struct.pack(">I", len(part)) + part for part in parts),
    lambda parts: b"".join(varint(len(part)) + part for part in parts),
    lambda parts: b"\x0a" + varint(len(parts[0])) + parts[0] + b"\x12\x00",
    lambda parts: gzip.compress(parts[0]),
], ids=["one", "fixed", "varint", "tempo-v2", "gzip"])
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


def jaeger_span(**span: object) -> dict[str, object]:
    return {"traceID": TRACE[16:], "spanID": "b", "operationName": "op", "startTime": 1_700_000_000_000_001, "duration": 7, "processID": "p1", "references": []} | span


def test_jaeger_ui_json(tmp_path: Path) -> None:
    other = "ff" * 16
    span = jaeger_span(
        references=[{"refType": "FOLLOWS_FROM", "traceID": TRACE[16:], "spanID": "c"}, {"refType": "CHILD_OF", "traceID": other, "spanID": "d"},
                    {"refType": "CHILD_OF", "traceID": TRACE[16:], "spanID": "a"}],
        tags=[{"key": "span.kind", "type": "string", "value": "consumer"}, {"key": "error", "type": "bool", "value": True},
              {"key": "n", "type": "int64", "value": "9223372036854775222"}, {"key": "peer.service", "type": "string", "value": "y"},
              {"key": "w3c.tracestate", "type": "string", "value": "ot=th:c"}],
        logs=[{"timestamp": 1, "fields": [{"key": "event", "type": "string", "value": "boom"}]}],
    )
    processes = {"p1": {"serviceName": "mail", "tags": [{"key": "hostname", "type": "string", "value": "pod-1"}]}}
    report, [(resource, got)] = take(tmp_path, {"data": [{"traceID": TRACE, "spans": [span], "processes": processes}]})
    assert report.format == "Jaeger JSON"
    assert resource == {"service.name": "mail", "hostname": "pod-1", "host.name": "pod-1"}
    assert got.trace_id.hex() == TRACE[16:].zfill(32)
    assert (got.span_id.hex(), got.parent_span_id.hex()) == ("b".zfill(16), "a".zfill(16))
    assert sorted((link.trace_id.hex(), link.span_id.hex()) for link in got.links) == sorted([(TRACE[16:].zfill(32), "c".zfill(16)), (other, "d".zfill(16))])
    assert (got.kind, got.status.code, got.trace_state) == (Span.SPAN_KIND_CONSUMER, 2, "ot=th:c")
    assert (got.start_time_unix_nano, got.end_time_unix_nano) == (1_700_000_000_000_001_000, 1_700_000_000_000_008_000)
    assert attributes(got.attributes)["n"] == 9223372036854775222
    assert got.events[0].name == "boom"


def test_jaeger_follows_from_is_the_parent_where_there_is_no_other(tmp_path: Path) -> None:
    span = jaeger_span(references=[{"refType": "FOLLOWS_FROM", "traceID": TRACE[16:], "spanID": "c"}], process={"serviceName": "x"})
    _, [(_, got)] = take(tmp_path, [{"spans": [span]}])
    assert (got.parent_span_id.hex(), list(got.links)) == ("c".zfill(16), [])


def test_jaeger_domain_and_elasticsearch_documents(tmp_path: Path) -> None:
    span = {
        "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(), "spanId": base64.b64encode(bytes(7) + b"\x02").decode(), "operationName": "op",
        "startTime": "2017-01-26T16:46:31.639875139-05:00", "duration": "1.5ms", "process": {"serviceName": "x", "tag": {"k8s@pod@name": "p"}},
        "tags": [{"key": "error", "vType": "BOOL", "vBool": False}, {"key": "f", "vType": "FLOAT64", "vFloat64": 72.5}],
    }
    for content in (span, {"_index": "jaeger", "_source": span}, {"hits": {"hits": [{"_source": span}]}}, {"spans": [span]}):
        _, [(resource, got)] = take(tmp_path, content)
        assert resource == {"service.name": "x", "k8s.pod.name": "p"}
        assert got.start_time_unix_nano == 1485467191639875139
        assert got.end_time_unix_nano - got.start_time_unix_nano == 1_500_000
        assert (got.status.code, attributes(got.attributes)) == (0, {"error": False, "f": 72.5})


def test_opentracing_tags_get_todays_names_beside_them(tmp_path: Path) -> None:
    tags = {"span.kind": "client", "db.type": "redis", "db.instance": "0", "peer.hostname": "cache", "peer.ipv4": 167772161, "message_bus.destination": "t"}
    listed = [{"key": key, "type": "int64" if isinstance(value, int) else "string", "value": value} for key, value in tags.items()]
    _, [(_, got)] = take(tmp_path, {"spans": [jaeger_span(tags=listed, process={"serviceName": "x"})]})
    assert attributes(got.attributes) == tags | {
        "db.system.name": "redis", "db.namespace": "0", "server.address": "cache", "network.peer.address": "10.0.0.1", "messaging.destination.name": "t",
    }
    _, [(_, sql)] = take(tmp_path, [zipkin(kind="CLIENT", remoteEndpoint={"serviceName": "app_db"}, tags={"sql.query": "select 1"})])
    assert attributes(sql.attributes) == {"peer.service": "app_db", "db.system.name": "other_sql", "sql.query": "select 1"}


def zipkin(**span: object) -> dict[str, object]:
    return {"traceId": TRACE[16:], "id": "1", "name": "get", "timestamp": 1_700_000_000_000_000, "duration": 10, "localEndpoint": {"serviceName": "a"}} | span


def test_zipkin_v2_shared_ids_stay_two_spans(tmp_path: Path) -> None:
    report, spans = take(tmp_path, [
        zipkin(kind="CLIENT", remoteEndpoint={"serviceName": "b", "ipv4": "10.0.0.1", "port": 80}, tags={"http.path": "/"}),
        zipkin(kind="SERVER", shared=True, localEndpoint={"serviceName": "b"}, tags={"error": ""}),
    ])
    assert report.format == "Zipkin v2 JSON"
    (_, server), (_, client) = spans
    assert client.span_id == server.span_id
    assert client.trace_id.hex() == TRACE[16:].zfill(32)
    assert (client.kind, server.kind, server.status.code) == (3, 2, 2)
    assert attributes(client.attributes) == {"peer.service": "b", "network.peer.address": "10.0.0.1", "network.peer.port": 80, "http.path": "/", "url.path": "/"}


def test_zipkin_messaging_tags_name_the_topic(tmp_path: Path) -> None:
    _, spans = take(tmp_path, [
        zipkin(id="1", kind="PRODUCER", remoteEndpoint={"serviceName": "kafka"}, tags={"kafka.topic": "orders"}),
        zipkin(id="2", kind="CONSUMER", tags={"rabbit.exchange": "", "rabbit.routing_key": "mail"}),
        zipkin(id="3", tags={"lc": "async"}),
    ])
    producer, consumer, local = (span for _, span in spans)
    assert attributes(producer.attributes).items() >= {"messaging.system": "kafka", "messaging.destination.name": "orders"}.items()
    assert "peer.service" not in attributes(producer.attributes)
    expected = {"messaging.system": "rabbitmq", "messaging.destination.name": "", "messaging.rabbitmq.destination.routing_key": "mail"}
    assert attributes(consumer.attributes).items() >= expected.items()
    assert local.kind == Span.SPAN_KIND_INTERNAL


def test_zipkin_fragment_without_time_joins_its_span(tmp_path: Path) -> None:
    fragment = {"traceId": TRACE[16:], "id": "1", "name": "get", "localEndpoint": {"serviceName": "b"}, "tags": {"k": "v"}}
    report, spans = take(tmp_path, [fragment, zipkin(kind="SERVER", localEndpoint={"serviceName": "b"}), fragment | {"id": "9"}])
    assert [attributes(span.attributes) for _, span in spans] == [{"k": "v"}]
    assert report.skipped.counts == {"a span without timestamp": 1}


def test_zipkin_v1_splits_both_sides(tmp_path: Path) -> None:
    a, b = {"serviceName": "a", "ipv4": "10.0.0.1"}, {"serviceName": "b"}
    span = {"traceId": TRACE[16:], "id": "2", "parentId": "1", "name": "http:/x", "timestamp": 100, "duration": 50, "annotations": [
        {"value": "cs", "timestamp": 100, "endpoint": a}, {"value": "sr", "timestamp": 110, "endpoint": b},
        {"value": "ss", "timestamp": 130, "endpoint": b}, {"value": "cr", "timestamp": 150, "endpoint": a},
    ], "binaryAnnotations": [{"key": "http.path", "value": "/x", "endpoint": a}, {"key": "error", "value": "500", "endpoint": b}]}
    report, spans = take(tmp_path, [span])
    assert report.format == "Zipkin v1 JSON"
    (server_of, server), (client_of, client) = spans
    assert (server_of, client_of) == ({"service.name": "b"}, {"service.name": "a"})
    assert server.span_id == client.span_id
    assert server.parent_span_id == client.parent_span_id == bytes(7) + b"\x01"
    assert [(s.start_time_unix_nano, s.end_time_unix_nano) for s in (client, server)] == [(100_000, 150_000), (110_000, 130_000)]
    assert (client.status.code, server.status.code, server.status.message) == (0, 2, "500")
    assert attributes(client.attributes)["peer.service"] == "b"
    assert "http.path" not in attributes(server.attributes)


def test_zipkin_v1_address_and_local_component(tmp_path: Path) -> None:
    a = {"serviceName": "a"}
    client = {"traceId": "1", "id": "1", "name": "q", "timestamp": 5, "duration": 2, "annotations": [{"value": "cs", "timestamp": 5, "endpoint": a}],
              "binaryAnnotations": [{"key": "sa", "value": True, "endpoint": {"serviceName": "mysql", "port": 3306}}]}
    local = {"traceId": "1", "id": "2", "name": "l", "timestamp": 5, "duration": 2, "binaryAnnotations": [{"key": "lc", "value": "x", "endpoint": a}]}
    _, spans = take(tmp_path, [client, local])
    assert [(about["service.name"], span.kind) for about, span in spans] == [("a", 3), ("a", 1)]
    assert attributes(spans[0][1].attributes) == {"peer.service": "mysql", "network.peer.port": 3306}


@pytest.mark.parametrize(("content", "reason"), [
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
])
def test_files_that_are_not_taken_say_why(tmp_path: Path, content: object, reason: str) -> None:
    report, spans = take(tmp_path, content)
    assert spans == []
    assert reason in report.error


@pytest.mark.parametrize("broken", [{"attributes": 5}, {"kind": []}, {"startTimeUnixNano": "x"}, {"status": 3}, {"links": [1]}, {"attributes": [{"key": "d", "value": {"doubleValue": "x"}}]}])
def test_one_misshapen_span_does_not_take_its_file_down(tmp_path: Path, broken: dict[str, object]) -> None:
    content = otlp()
    content["resourceSpans"][0]["scopeSpans"][0]["spans"].append(otlp(spanId="01", **broken)["resourceSpans"][0]["scopeSpans"][0]["spans"][0])
    report, spans = take(tmp_path, content)
    assert len(spans) + sum(report.skipped.counts.values()) == 2
    assert report.accepted >= 1


def test_requests_are_bounded_and_lose_nothing() -> None:
    resources = ExportTraceServiceRequest.FromString(request(1000)).resource_spans
    by_count = list(requests(resources, max_spans=300))
    assert [item.spans for item in by_count] == [300, 300, 300, 100]
    by_size = list(requests(resources, max_bytes=4000))
    assert max(len(item.body) for item in by_size) < 6000
    ids = {span.span_id for item in by_size for r in ExportTraceServiceRequest.FromString(item.body).resource_spans for s in r.scope_spans for span in s.spans}
    assert len(ids) == sum(item.spans for item in by_size) == 1000


def test_folders_are_walked_and_missing_paths_refused(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("b/2.json", "1.json"):
        (tmp_path / name).touch()
    assert [path.name for path in expand([tmp_path])] == ["1.json", "2.json"]
    with pytest.raises(NotFound, match="no such file"):
        expand([tmp_path / "nowhere"])
