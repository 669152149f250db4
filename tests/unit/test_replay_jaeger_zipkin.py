"""Files of Jaeger and Zipkin become the OTLP that their own exporter would have sent."""

from __future__ import annotations

import base64
from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Span
from replay_taken import TRACE, attributes, take


def jaeger_span(**span: object) -> dict[str, object]:
    return {
        "traceID": TRACE[16:],
        "spanID": "b",
        "operationName": "op",
        "startTime": 1_700_000_000_000_001,
        "duration": 7,
        "processID": "p1",
        "references": [],
    } | span


def test_jaeger_ui_json(tmp_path: Path) -> None:
    other = "ff" * 16
    span = jaeger_span(
        references=[
            {"refType": "FOLLOWS_FROM", "traceID": TRACE[16:], "spanID": "c"},
            {"refType": "CHILD_OF", "traceID": other, "spanID": "d"},
            {"refType": "CHILD_OF", "traceID": TRACE[16:], "spanID": "a"},
        ],
        tags=[
            {"key": "span.kind", "type": "string", "value": "consumer"},
            {"key": "error", "type": "bool", "value": True},
            {"key": "n", "type": "int64", "value": "9223372036854775222"},
            {"key": "peer.service", "type": "string", "value": "y"},
            {"key": "w3c.tracestate", "type": "string", "value": "ot=th:c"},
        ],
        logs=[{"timestamp": 1, "fields": [{"key": "event", "type": "string", "value": "boom"}]}],
    )
    processes = {"p1": {"serviceName": "mail", "tags": [{"key": "hostname", "type": "string", "value": "pod-1"}]}}
    report, [(resource, got)] = take(tmp_path, {"data": [{"traceID": TRACE, "spans": [span], "processes": processes}]})
    assert report.format == "Jaeger JSON"
    assert resource == {"service.name": "mail", "hostname": "pod-1", "host.name": "pod-1"}
    assert got.trace_id.hex() == TRACE[16:].zfill(32)
    assert (got.span_id.hex(), got.parent_span_id.hex()) == ("b".zfill(16), "a".zfill(16))
    assert sorted((link.trace_id.hex(), link.span_id.hex()) for link in got.links) == sorted(
        [(TRACE[16:].zfill(32), "c".zfill(16)), (other, "d".zfill(16))]
    )
    assert (got.kind, got.status.code, got.trace_state) == (Span.SPAN_KIND_CONSUMER, 2, "ot=th:c")
    assert (got.start_time_unix_nano, got.end_time_unix_nano) == (1_700_000_000_000_001_000, 1_700_000_000_000_008_000)
    assert attributes(got.attributes)["n"] == 9223372036854775222
    assert got.events[0].name == "boom"


def test_jaeger_follows_from_is_the_parent_where_there_is_no_other(tmp_path: Path) -> None:
    span = jaeger_span(
        references=[{"refType": "FOLLOWS_FROM", "traceID": TRACE[16:], "spanID": "c"}], process={"serviceName": "x"}
    )
    _, [(_, got)] = take(tmp_path, [{"spans": [span]}])
    assert (got.parent_span_id.hex(), list(got.links)) == ("c".zfill(16), [])


def test_jaeger_domain_and_elasticsearch_documents(tmp_path: Path) -> None:
    span = {
        "traceId": base64.b64encode(bytes.fromhex(TRACE)).decode(),
        "spanId": base64.b64encode(bytes(7) + b"\x02").decode(),
        "operationName": "op",
        "startTime": "2017-01-26T16:46:31.639875139-05:00",
        "duration": "1.5ms",
        "process": {"serviceName": "x", "tag": {"k8s@pod@name": "p"}},
        "tags": [{"key": "error", "vType": "BOOL", "vBool": False}, {"key": "f", "vType": "FLOAT64", "vFloat64": 72.5}],
    }
    for content in (
        span,
        {"_index": "jaeger", "_source": span},
        {"hits": {"hits": [{"_source": span}]}},
        {"spans": [span]},
    ):
        _, [(resource, got)] = take(tmp_path, content)
        assert resource == {"service.name": "x", "k8s.pod.name": "p"}
        assert got.start_time_unix_nano == 1485467191639875139
        assert got.end_time_unix_nano - got.start_time_unix_nano == 1_500_000
        assert (got.status.code, attributes(got.attributes)) == (0, {"error": False, "f": 72.5})


def test_opentracing_tags_get_todays_names_beside_them(tmp_path: Path) -> None:
    tags = {
        "span.kind": "client",
        "db.type": "redis",
        "db.instance": "0",
        "peer.hostname": "cache",
        "peer.ipv4": 167772161,
        "message_bus.destination": "t",
    }
    listed = [
        {"key": key, "type": "int64" if isinstance(value, int) else "string", "value": value}
        for key, value in tags.items()
    ]
    _, [(_, got)] = take(tmp_path, {"spans": [jaeger_span(tags=listed, process={"serviceName": "x"})]})
    assert attributes(got.attributes) == tags | {
        "db.system.name": "redis",
        "db.namespace": "0",
        "server.address": "cache",
        "network.peer.address": "10.0.0.1",
        "messaging.destination.name": "t",
    }
    _, [(_, sql)] = take(
        tmp_path, [zipkin(kind="CLIENT", remoteEndpoint={"serviceName": "app_db"}, tags={"sql.query": "select 1"})]
    )
    assert attributes(sql.attributes) == {
        "peer.service": "app_db",
        "db.system.name": "other_sql",
        "sql.query": "select 1",
    }


def zipkin(**span: object) -> dict[str, object]:
    return {
        "traceId": TRACE[16:],
        "id": "1",
        "name": "get",
        "timestamp": 1_700_000_000_000_000,
        "duration": 10,
        "localEndpoint": {"serviceName": "a"},
    } | span


def test_zipkin_v2_shared_ids_stay_two_spans(tmp_path: Path) -> None:
    report, spans = take(
        tmp_path,
        [
            zipkin(
                kind="CLIENT",
                remoteEndpoint={"serviceName": "b", "ipv4": "10.0.0.1", "port": 80},
                tags={"http.path": "/"},
            ),
            zipkin(kind="SERVER", shared=True, localEndpoint={"serviceName": "b"}, tags={"error": ""}),
        ],
    )
    assert report.format == "Zipkin v2 JSON"
    (_, server), (_, client) = spans
    assert client.span_id == server.span_id
    assert client.trace_id.hex() == TRACE[16:].zfill(32)
    assert (client.kind, server.kind, server.status.code) == (3, 2, 2)
    assert attributes(client.attributes) == {
        "peer.service": "b",
        "network.peer.address": "10.0.0.1",
        "network.peer.port": 80,
        "http.path": "/",
        "url.path": "/",
    }


def test_zipkin_messaging_tags_name_the_topic(tmp_path: Path) -> None:
    _, spans = take(
        tmp_path,
        [
            zipkin(id="1", kind="PRODUCER", remoteEndpoint={"serviceName": "kafka"}, tags={"kafka.topic": "orders"}),
            zipkin(id="2", kind="CONSUMER", tags={"rabbit.exchange": "", "rabbit.routing_key": "mail"}),
            zipkin(id="3", tags={"lc": "async"}),
        ],
    )
    producer, consumer, local = (span for _, span in spans)
    assert (
        attributes(producer.attributes).items()
        >= {"messaging.system": "kafka", "messaging.destination.name": "orders"}.items()
    )
    assert "peer.service" not in attributes(producer.attributes)
    expected = {
        "messaging.system": "rabbitmq",
        "messaging.destination.name": "",
        "messaging.rabbitmq.destination.routing_key": "mail",
    }
    assert attributes(consumer.attributes).items() >= expected.items()
    assert local.kind == Span.SPAN_KIND_INTERNAL


def test_zipkin_fragment_without_time_joins_its_span(tmp_path: Path) -> None:
    fragment = {
        "traceId": TRACE[16:],
        "id": "1",
        "name": "get",
        "localEndpoint": {"serviceName": "b"},
        "tags": {"k": "v"},
    }
    report, spans = take(
        tmp_path, [fragment, zipkin(kind="SERVER", localEndpoint={"serviceName": "b"}), fragment | {"id": "9"}]
    )
    assert [attributes(span.attributes) for _, span in spans] == [{"k": "v"}]
    assert report.skipped.counts == {"a span without timestamp": 1}


def test_zipkin_v1_splits_both_sides(tmp_path: Path) -> None:
    a, b = {"serviceName": "a", "ipv4": "10.0.0.1"}, {"serviceName": "b"}
    span = {
        "traceId": TRACE[16:],
        "id": "2",
        "parentId": "1",
        "name": "http:/x",
        "timestamp": 100,
        "duration": 50,
        "annotations": [
            {"value": "cs", "timestamp": 100, "endpoint": a},
            {"value": "sr", "timestamp": 110, "endpoint": b},
            {"value": "ss", "timestamp": 130, "endpoint": b},
            {"value": "cr", "timestamp": 150, "endpoint": a},
        ],
        "binaryAnnotations": [
            {"key": "http.path", "value": "/x", "endpoint": a},
            {"key": "error", "value": "500", "endpoint": b},
        ],
    }
    report, spans = take(tmp_path, [span])
    assert report.format == "Zipkin v1 JSON"
    (server_of, server), (client_of, client) = spans
    assert (server_of, client_of) == ({"service.name": "b"}, {"service.name": "a"})
    assert server.span_id == client.span_id
    assert server.parent_span_id == client.parent_span_id == bytes(7) + b"\x01"
    assert [(s.start_time_unix_nano, s.end_time_unix_nano) for s in (client, server)] == [
        (100_000, 150_000),
        (110_000, 130_000),
    ]
    assert (client.status.code, server.status.code, server.status.message) == (0, 2, "500")
    assert attributes(client.attributes)["peer.service"] == "b"
    assert "http.path" not in attributes(server.attributes)


def test_zipkin_v1_address_and_local_component(tmp_path: Path) -> None:
    a = {"serviceName": "a"}
    client = {
        "traceId": "1",
        "id": "1",
        "name": "q",
        "timestamp": 5,
        "duration": 2,
        "annotations": [{"value": "cs", "timestamp": 5, "endpoint": a}],
        "binaryAnnotations": [{"key": "sa", "value": True, "endpoint": {"serviceName": "mysql", "port": 3306}}],
    }
    local = {
        "traceId": "1",
        "id": "2",
        "name": "l",
        "timestamp": 5,
        "duration": 2,
        "binaryAnnotations": [{"key": "lc", "value": "x", "endpoint": a}],
    }
    _, spans = take(tmp_path, [client, local])
    assert [(about["service.name"], span.kind) for about, span in spans] == [("a", 3), ("a", 1)]
    assert attributes(spans[0][1].attributes) == {"peer.service": "mysql", "network.peer.port": 3306}
