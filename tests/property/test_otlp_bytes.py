"""The receiver's walk over bytes against Google's decoder, on requests as they are sent and with bytes changed, cut, doubled and put in.

The oracle reads texts as bytes, since a text that is no UTF-8 keeps its span. What the receiver does not look into (events, attributes that are not kept) may be
damaged without harm, so a request that the oracle refuses may be taken; one that it takes must come out the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from collector_receiver.otlp import decode_batch
from collector_receiver.scrub import KEPT

NAMES = sorted(KEPT)
MAX_START = 2**63 - 1


def oracle_class() -> Any:
    pool = descriptor_pool.DescriptorPool()
    for module in (common_pb2, resource_pb2, trace_pb2, trace_service_pb2):
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        waiting = list(file.message_type)
        while waiting:
            message = waiting.pop()
            waiting += message.nested_type
            for field in message.field:
                if field.type == descriptor_pb2.FieldDescriptorProto.TYPE_STRING:
                    field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
        pool.Add(file)
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName("opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest")
    )


REQUEST = oracle_class()


def make(rng: random.Random) -> bytes:
    """A request as senders make them, with a few that no sender should."""
    request = trace_service_pb2.ExportTraceServiceRequest()
    for _ in range(rng.randint(0, 3)):
        block = request.resource_spans.add(schema_url=rng.choice(["", "x"]))
        for name in rng.sample(
            ["service.name", "service.version", "telemetry.sdk.name", "deployment.environment.name", "host.name"],
            rng.randint(0, 4),
        ):
            block.resource.attributes.add(key=name).value.string_value = rng.choice(["a", "", "b" * 200])
        for _ in range(rng.randint(0, 2)):
            scope = block.scope_spans.add()
            scope.scope.name = rng.choice(["", "lib"])
            for _ in range(rng.randint(0, 4)):
                fill(scope.spans.add(), rng)
    return request.SerializeToString()


def fill(span: Any, rng: random.Random) -> None:
    span.trace_id = rng.choice([rng.randbytes(16), rng.randbytes(16), rng.randbytes(16), bytes(16), b"short"])
    span.span_id = rng.choice([rng.randbytes(8), rng.randbytes(8), rng.randbytes(8), bytes(8), b""])
    span.parent_span_id = rng.choice([b"", rng.randbytes(8), b"odd"])
    span.name, span.trace_state = rng.choice(["", "GET /", "n" * 300]), rng.choice(["", "ot=th:8"])
    span.kind, span.flags = rng.choice([0, 1, 2, 3, 4, 5, 9]), rng.choice([0, 0x300, 2**32 - 1])
    span.start_time_unix_nano = rng.choice([0, 1, 1_768_478_400_000_000_000, 2**63, 2**64 - 1])
    span.end_time_unix_nano = rng.choice([0, 1_768_478_400_000_000_001])
    span.status.code, span.status.message = rng.choice([0, 1, 2, 7]), rng.choice(["", "bad"])
    for _ in range(rng.randint(0, 5)):
        value = span.attributes.add(key=rng.choice([rng.choice(NAMES), rng.choice(NAMES), "of.no.use", ""])).value
        if (kind := rng.randint(0, 4)) == 0:
            value.string_value = rng.choice(["", "v", "w" * 150])
        elif kind == 1:
            value.int_value = rng.choice([0, -1, 2**62])
        elif kind == 2:
            value.bool_value = True
        elif kind == 3:
            value.array_value.values.add().string_value = "deep"
    for _ in range(rng.randint(0, 2)):
        span.links.add(trace_id=rng.choice([rng.randbytes(16), b""]), span_id=rng.choice([rng.randbytes(8), bytes(8)]))
    if rng.random() < 0.3:
        span.events.add(name="e", time_unix_nano=1)


def damage(body: bytes, rng: random.Random) -> bytes:
    out = bytearray(body)
    for _ in range(rng.randint(0, 4)):
        at = rng.randint(0, len(out))
        kind = rng.randint(0, 5)
        if kind == 0 and at < len(out):
            out[at] = rng.randrange(256)
        elif kind == 1:
            del out[at : at + rng.randint(1, 12)]
        elif kind == 2:
            out[at:at] = rng.choice(
                [
                    b"\xff" * 10,
                    b"\x0b\x0c",
                    b"\x0b",
                    b"\x80",
                    b"\xfa\xff\xff\xff\xff\x0f",
                    rng.randbytes(rng.randint(1, 6)),
                ]
            )
        elif kind == 3:
            out[at:at] = out[at : at + rng.randint(1, 40)]
        elif kind == 4:
            out = out[:at]
        elif at < len(out):
            out[at] ^= 1 << rng.randrange(8)
    return bytes(out)


def usable(span: Any) -> str:
    if len(span.trace_id) != 16 or not any(span.trace_id):
        return "trace_id"
    if len(span.span_id) != 8 or not any(span.span_id):
        return "span_id"
    return "" if 0 < span.start_time_unix_nano <= MAX_START else "start_time"


def spans(request: Any) -> Iterator[Any]:
    for block in request.resource_spans:
        for scope in block.scope_spans:
            yield from scope.spans


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def check(bodies: list[bytes]) -> None:
    found = decode_batch(bodies, ["t"] * len(bodies))
    rows = iter(found.raw.frame().iter_rows(named=True))
    for number, body in enumerate(bodies):
        request = REQUEST()
        try:
            request.ParseFromString(body)
        except DecodeError:
            for _ in range(found.accepted[number]):
                next(rows)
            continue
        assert number not in found.malformed, (number, body.hex())
        wanted = [span for span in spans(request) if not usable(span)]
        assert found.accepted[number] == len(wanted), body.hex()
        refused: dict[str, int] = {}
        for span in spans(request):
            if reason := usable(span):
                refused[reason] = refused.get(reason, 0) + 1
        told = [r for r in found.rejections if r.request == number]
        assert {
            reason: sum(r.count for r in told if r.reason == reason) for reason in {r.reason for r in told}
        } == refused, body.hex()
        for span in wanted:
            row = next(rows)
            assert (row["trace_id"], row["span_id"], row["parent_id"]) == (
                span.trace_id,
                span.span_id,
                span.parent_span_id,
            ), body.hex()
            assert (row["kind"], row["start_ns"], row["flags"]) == (
                span.kind if 0 <= span.kind <= 5 else 0,
                span.start_time_unix_nano,
                span.flags,
            ), body.hex()
            assert row["attribute_count"] == len(span.attributes), body.hex()
            assert row["status"] == (span.status.code if 0 <= span.status.code <= 2 else 0), body.hex()
            assert [key["key"] for key in row["attributes"] or ()] == [
                text(a.key) for a in span.attributes if text(a.key) in KEPT and a.value.WhichOneof("value")
            ], body.hex()
            assert [(link["trace_id"], link["span_id"]) for link in row["links"] or ()] == [
                (link.trace_id, link.span_id)
                for link in span.links
                if len(link.trace_id) == 16 and any(link.trace_id) and len(link.span_id) == 8 and any(link.span_id)
            ], body.hex()
            if span.name.isascii() and span.trace_state.isascii():
                assert (row["name"], row["trace_state"]) == (text(span.name), text(span.trace_state)), body.hex()
    assert next(rows, None) is None


@settings(max_examples=150)
@given(st.integers(0, 2**63), st.integers(1, 6))
def test_what_is_sent_is_what_is_read(seed: int, count: int) -> None:
    rng = random.Random(seed)
    check([make(rng) for _ in range(count)])


@settings(max_examples=400)
@given(st.integers(0, 2**63), st.integers(1, 6))
def test_damaged_bytes_are_read_as_google_reads_them_and_harm_no_other_request(seed: int, count: int) -> None:
    rng = random.Random(seed)
    check([damage(make(rng), rng) if rng.random() < 0.8 else make(rng) for _ in range(count)])


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=200), min_size=1, max_size=5))
def test_noise_is_survived(bodies: list[bytes]) -> None:
    decode_batch(bodies, ["t"] * len(bodies))


@pytest.mark.parametrize(
    "body", [b"", b"\x0a", b"\x0a\xff\xff\xff\xff\x0f", b"\x0b" * 5000, b"\x0a\x00" * 3000, b"\x80" * 5000]
)
def test_shapes_that_lead_a_walk_astray(body: bytes) -> None:
    check([body, make(random.Random(1))])
