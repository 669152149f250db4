"""Decoding by column says the same as protobuf's own library, keeps what edges need, and tells bad spans apart."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue

from collector_receiver import otlp
from collector_receiver.otlp import decode, decode_batch
from collector_receiver.scrub import KEPT
from collector_receiver.values import MAX_TEXT_BYTES, number
from nexus.errors import MalformedSpans, TooLarge
from nexus.model.span import SPAN_SCHEMA

NAMES = sorted(KEPT)
OTHERS = [
    "thread.id",
    "code.function.name",
    "http.response.status_codes",
    "db.nam",
    "db.names",
    "",
    "k",
    "x" * 200,
    "messaging.destination.nome",
]


def value(chance) -> AnyValue:
    return chance.choice(
        (
            lambda: AnyValue(string_value=chance.choice(("", "GET", "héllo", "주문", "y" * chance.randrange(300)))),
            lambda: AnyValue(int_value=chance.choice((0, 200, 16_383, 16_384, -1, 2**63 - 1, -(2**63)))),
            lambda: AnyValue(bool_value=chance.random() < 0.5),
            lambda: AnyValue(double_value=chance.choice((0.5, 503.0, 1e300, -0.25))),
            lambda: AnyValue(array_value=ArrayValue(values=[AnyValue(string_value="a"), AnyValue(int_value=1)])),
            lambda: AnyValue(bytes_value=b"hi"),
            AnyValue,
        )
    )()


def request(chance, spans: int = 20) -> ExportTraceServiceRequest:
    message = ExportTraceServiceRequest()
    for _ in range(chance.randrange(1, 4)):
        block = message.resource_spans.add(schema_url="s")
        for key in (
            "service.name",
            "service.namespace",
            "deployment.environment",
            "deployment.environment.name",
            "host.name",
            "k8s.pod.uid",
            "telemetry.sdk.name",
        ):
            if chance.random() < 0.6:
                block.resource.attributes.add(key=key).value.string_value = chance.choice(("", "shop", "cart", "prod"))
        for _ in range(chance.randrange(3)):
            scope = block.scope_spans.add()
            scope.scope.name = "scope"
            for _ in range(chance.randrange(spans)):
                span = scope.spans.add(
                    trace_id=chance.randbytes(16),
                    span_id=chance.randbytes(8),
                    parent_span_id=chance.choice((b"", chance.randbytes(8), bytes(8), chance.randbytes(5))),
                    name=chance.choice(("GET /", "주문", "")),
                    kind=chance.choice((0, 1, 2, 3, 4, 5, 9)),
                    start_time_unix_nano=chance.randrange(1, 2**60),
                    end_time_unix_nano=chance.choice((0, chance.randrange(2**60))),
                    trace_state=chance.choice(("", "ot=th:c")),
                    flags=chance.choice((0, 0x101, 0x301)),
                )
                for _ in range(chance.randrange(12)):
                    span.attributes.append(KeyValue(key=chance.choice((*NAMES, *OTHERS)), value=value(chance)))
                if chance.random() < 0.3:
                    span.links.add(
                        trace_id=chance.choice((chance.randbytes(16), b"", bytes(16))),
                        span_id=chance.randbytes(8),
                        trace_state="x",
                    )
                if chance.random() < 0.3:
                    span.status.code = chance.choice((0, 1, 2, 7))
                    span.status.message = "boom"
                if chance.random() < 0.2:
                    span.events.add(name="e", time_unix_nano=5)
    return message


def as_text(v: AnyValue) -> str | None:
    match v.WhichOneof("value"):
        case "string_value":
            return v.string_value
        case "bool_value":
            return "true" if v.bool_value else "false"
        case "int_value":
            return str(v.int_value)
        case "double_value":
            return number(v.double_value)
        case "array_value":
            return json.dumps(
                [item.string_value or item.int_value for item in v.array_value.values], separators=(",", ":")
            )
        case "bytes_value":
            return v.bytes_value.hex()
    return None


def first(stated: dict[str, str], *names: str) -> str | None:
    """The newest name that says something, else an empty text where any of them is stated."""
    return next(
        (stated[name] for name in names if stated.get(name)), "" if any(name in stated for name in names) else None
    )


def expected(message: ExportTraceServiceRequest) -> list[dict]:
    """What protobuf's own objects say."""
    rows = []
    for block in message.resource_spans:
        stated = {a.key: a.value.string_value for a in block.resource.attributes}
        for scope in block.scope_spans:
            for s in scope.spans:
                rows.append(
                    {  # noqa: PERF401  # two loops in one comprehension say less
                        "tenant": "t",
                        "trace_id": s.trace_id,
                        "span_id": s.span_id,
                        "parent_id": s.parent_span_id if any(s.parent_span_id) else b"",
                        "kind": s.kind if s.kind <= 5 else 0,
                        "name": s.name,
                        "start_ns": s.start_time_unix_nano,
                        "end_ns": s.end_time_unix_nano,
                        "status": s.status.code if s.status.code <= 2 else 0,
                        "status_message": s.status.message,
                        "trace_state": s.trace_state,
                        "flags": s.flags,
                        "service_name": first(stated, "service.name"),
                        "service_namespace": first(stated, "service.namespace"),
                        "environment": first(stated, "deployment.environment.name", "deployment.environment"),
                        "service_version": None,
                        "instance": first(stated, "service.instance.id", "k8s.pod.uid", "k8s.pod.name", "host.name"),
                        "attributes": [
                            {"key": a.key, "value": as_text(a.value)}
                            for a in s.attributes
                            if a.key in KEPT and as_text(a.value) is not None
                        ],
                        "attribute_count": len(s.attributes),
                        "links": [
                            {"trace_id": x.trace_id, "span_id": x.span_id}
                            for x in s.links
                            if len(x.trace_id) == 16 and any(x.trace_id)
                        ],
                        "source_probability": None,
                    }
                )
    return rows


@pytest.mark.parametrize("seed", range(80))
def test_decoding_agrees_with_protobuf_objects(seed):
    chance = random.Random(seed)
    messages = [request(chance) for _ in range(chance.randrange(1, 5))]
    frame, rejections = decode([message.SerializeToString() for message in messages], "t")
    assert dict(frame.schema) == SPAN_SCHEMA
    assert frame.to_dicts() == [row for message in messages for row in expected(message)]
    assert not rejections


def one(**fields) -> ExportTraceServiceRequest:
    message = ExportTraceServiceRequest()
    block = message.resource_spans.add()
    block.resource.attributes.add(key="service.name").value.string_value = "shop"
    block.scope_spans.add().spans.add(
        **{"trace_id": b"t" * 16, "span_id": b"s" * 8, "start_time_unix_nano": 5, **fields}
    )
    return message


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"trace_id": b""}, "trace_id"),
        ({"trace_id": bytes(16)}, "trace_id"),
        ({"trace_id": b"t" * 32}, "trace_id"),
        ({"trace_id": b"t" * 15}, "trace_id"),
        ({"span_id": b""}, "span_id"),
        ({"span_id": bytes(8)}, "span_id"),
        ({"span_id": b"s" * 9}, "span_id"),
        ({"start_time_unix_nano": 0}, "start_time"),
        ({"start_time_unix_nano": 2**63}, "start_time"),
    ],
)
def test_a_span_that_can_never_be_used_is_rejected_by_itself_and_its_service_named(fields, reason):
    message = one(**fields)
    message.resource_spans[0].scope_spans[0].spans.add(trace_id=b"u" * 16, span_id=b"v" * 8, start_time_unix_nano=9)
    frame, [rejection] = decode(message.SerializeToString(), "acme")
    assert frame["span_id"].to_list() == [b"v" * 8]
    assert (rejection.tenant, rejection.service_name, rejection.reason, rejection.count) == ("acme", "shop", reason, 1)


def test_a_bad_request_among_good_ones_is_told_apart_and_tenants_stay_with_their_requests():
    good = [one(name=f"op {n}").SerializeToString() for n in range(5)]
    bodies = [good[0], good[1], good[2][:-3], good[3], b"\xff", good[4], b""]
    decoded = decode_batch(bodies, [f"tenant-{n}" for n in range(7)])
    assert sorted(decoded.malformed) == [2, 4]
    assert decoded.accepted == (1, 1, 0, 1, 0, 1, 0)
    assert decoded.spans["tenant"].to_list() == ["tenant-0", "tenant-1", "tenant-3", "tenant-5"]
    assert decoded.spans["name"].to_list() == ["op 0", "op 1", "op 3", "op 4"]
    with pytest.raises(MalformedSpans):
        decode(bodies, "t")


def test_rejections_of_a_split_batch_name_the_right_request():
    bodies = [one().SerializeToString(), b"\xff", one(span_id=b"").SerializeToString()]
    [rejection] = decode_batch(bodies, ["a", "b", "c"]).rejections
    assert (rejection.request, rejection.tenant) == (2, "c")


def test_texts_that_are_no_utf8_keep_their_readable_part():
    raw = one(name="bad-AB-name").SerializeToString().replace(b"AB", b"\xff\xfe")
    message = one(name="주문")
    item = message.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="http.route")
    item.value.string_value = "/CD/주문"
    raws = [raw, message.SerializeToString().replace(b"CD", b"\xc3\x28")]
    frame, _ = decode(raws, "t")
    assert frame["name"].to_list() == ["bad-\ufffd\ufffd-name", "주문"]
    assert frame["attributes"].to_list()[1] == [{"key": "http.route", "value": "/\ufffd(/주문"}]


def test_allowed_names_are_kept_beside_those_that_edges_need():
    message = one()
    for key in ("team", "http.route", "secret"):
        message.resource_spans[0].scope_spans[0].spans[0].attributes.add(key=key).value.string_value = key
    body = message.SerializeToString()
    assert [a["key"] for a in decode(body, "t")[0]["attributes"][0].to_list()] == ["http.route"]
    assert [a["key"] for a in decode(body, "t", ["team"])[0]["attributes"][0].to_list()] == ["team", "http.route"]


def test_what_is_not_kept_does_not_reach_the_log():
    message = one()
    message.resource_spans[0].scope_spans[0].spans[0].attributes.add(
        key="enduser.id"
    ).value.string_value = "private-to-somebody"
    message.resource_spans[0].resource.attributes.add(key="host.ip").value.string_value = "private-address"
    raw = decode_batch([message.SerializeToString()], ["t"]).raw
    stored = repr(raw.texts.to_pylist())
    assert "private" not in stored


def test_messages_in_unusual_order_and_with_long_lengths_are_read():
    # value before key; key length as a two-byte varint with a leading zero group
    text = AnyValue(string_value="GET").SerializeToString()
    swapped = b"\x12" + bytes([len(text)]) + text + b"\x0a\x0bhttp.method"
    padded = b"\x0a\x8b\x00http.method" + b"\x12" + bytes([len(text)]) + text
    for raw in (swapped, padded):
        span = one().resource_spans[0].scope_spans[0].spans[0].SerializeToString() + b"\x4a" + bytes([len(raw)]) + raw
        scope = b"\x12" + bytes([len(span)]) + span
        block = b"\x12" + bytes([len(scope)]) + scope
        frame, _ = decode(b"\x0a" + bytes([len(block)]) + block, "t")
        assert frame["attributes"].to_list() == [[{"key": "http.method", "value": "GET"}]]


def test_a_kept_attribute_that_is_damaged_makes_the_request_malformed():
    good = KeyValue(key="http.method", value=AnyValue(string_value="GET")).SerializeToString()
    broken = good[:-4] + b"\x7f" + good[-3:]  # a text longer than its message
    span = one().resource_spans[0].scope_spans[0].spans[0].SerializeToString() + b"\x4a" + bytes([len(broken)]) + broken
    scope = b"\x12" + bytes([len(span)]) + span
    block = b"\x12" + bytes([len(scope)]) + scope
    with pytest.raises(MalformedSpans):
        decode(b"\x0a" + bytes([len(block)]) + block, "t")


@pytest.mark.parametrize("seed", range(8))
def test_any_truncation_is_malformed_or_a_shorter_message_to_protobuf_as_well(seed):
    body = request(random.Random(seed), spans=4).SerializeToString()
    for end in range(0, len(body), max(1, len(body) // 60)):
        try:
            expected_rows = expected(ExportTraceServiceRequest.FromString(body[:end]))
        except Exception:  # noqa: BLE001  # the library's own error
            with pytest.raises(MalformedSpans):
                decode(body[:end], "t")
        else:
            assert decode(body[:end], "t")[0].to_dicts() == expected_rows


def test_very_many_tiny_spans_are_refused_and_leave_nothing():
    scope = b"\x12\x00" * 600_000
    block = b"\x12" + varint(len(scope)) + scope
    decoded = decode_batch([b"\x0a" + varint(len(block)) + block], ["t"])
    assert [(r.reason, r.count) for r in decoded.rejections] == [("trace_id", 600_000)]
    assert sum(len(memoryview(buffer)) for buffer in decoded.raw.texts.column("text").buffers() if buffer) < 1000


def varint(n: int) -> bytes:
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def test_rejections_of_very_many_services_are_counted_without_their_names(monkeypatch):
    monkeypatch.setattr(otlp, "MAX_REJECTIONS", 3)
    message = ExportTraceServiceRequest()
    for n in range(10):
        block = message.resource_spans.add()
        block.resource.attributes.add(key="service.name").value.string_value = f"s{n}"
        block.scope_spans.add().spans.add(span_id=b"s" * 8, start_time_unix_nano=1)
    _, rejections = decode(message.SerializeToString(), "t")
    assert sorted((r.service_name or "", r.count) for r in rejections) == [("", 7), ("s0", 1), ("s1", 1), ("s2", 1)]


def test_long_texts_are_cut():
    frame, _ = decode(one(name="n" * (MAX_TEXT_BYTES + 50)).SerializeToString(), "t")
    assert frame["name"].str.len_bytes().to_list() == [MAX_TEXT_BYTES]


def test_deep_nesting_is_cut_and_costs_no_stack():
    nested = AnyValue(string_value="end")
    for _ in range(40):
        nested = AnyValue(array_value=ArrayValue(values=[nested]))
    message = one()
    message.resource_spans[0].scope_spans[0].spans[0].attributes.append(KeyValue(key="http.route", value=nested))
    frame, _ = decode(message.SerializeToString(), "t")
    assert frame["attributes"].to_list()[0][0]["value"] == "[" * 17 + "null" + "]" * 17


@pytest.mark.parametrize("names", [NAMES, ["a", "bb", "db.name", "x" * 127, "x" * 128, "x" * 300]])
def test_an_attribute_is_kept_by_its_whole_name_whatever_its_length(names, monkeypatch):
    monkeypatch.setattr(otlp, "KEPT", frozenset(names))
    keys = [
        *names,
        *OTHERS,
        "y" * 127,
        *(f"noise.{n}" for n in range(500)),
        *(name[:-1] for name in names),
        *(name[:-1] + "~" for name in names),
    ]
    message = one()
    for n, key in enumerate(keys):
        message.resource_spans[0].scope_spans[0].spans[0].attributes.add(key=key).value.int_value = n
    raw = decode_batch([message.SerializeToString()], ["t"]).raw
    kept = raw.texts.column("text").take(raw.contents.column("attributes")[0].values).to_pylist()
    assert [KeyValue.FromString(text).key for text in kept] == [key for key in keys if key in names]
    assert raw.contents.column("attribute_count").to_pylist() == [len(keys)]


def test_an_empty_request_is_an_empty_frame():
    frame, rejections = decode(b"", "t")
    assert frame.equals(pl.DataFrame(schema=SPAN_SCHEMA))
    assert rejections == []


def test_no_request_at_all_is_an_empty_frame():
    frame, rejections = decode([], "t")
    assert frame.equals(pl.DataFrame(schema=SPAN_SCHEMA))
    assert rejections == []
    nothing = decode_batch([], [])
    assert (len(nothing.raw), nothing.accepted, nothing.rejections, nothing.malformed) == (0, (), (), {})
    assert decode_batch([b"", b""], ["a", "b"]).accepted == (0, 0)
    assert len(nothing.raw.frame()) == 0


def test_more_bytes_than_places_can_name_are_refused(monkeypatch):
    monkeypatch.setattr(otlp, "MAX_BATCH_BYTES", 100)
    body = one().SerializeToString()
    assert decode_batch([body], ["t"]).accepted == (1,)
    with pytest.raises(TooLarge):
        decode_batch([body, body], ["t", "t"])


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_are_malformed_or_spans_and_never_anything_else(seed):
    chance = random.Random(seed)
    for _ in range(60):
        body = bytearray(request(chance, spans=4).SerializeToString() or b"x")
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(body))
            match chance.randrange(3):
                case 0:
                    body[place] = chance.randrange(256)
                case 1:
                    del body[place : place + chance.randrange(1, 5)]
                case 2:
                    body[place:place] = chance.randbytes(chance.randrange(1, 5))
            body = body or bytearray(b"x")
        decoded = decode_batch([bytes(body)], ["t"])
        assert dict(decoded.spans.schema) == SPAN_SCHEMA
        try:
            ExportTraceServiceRequest.FromString(bytes(body))
        except Exception:  # noqa: BLE001, S112  # the library is stricter about what we do not read
            continue
        assert not decoded.malformed
