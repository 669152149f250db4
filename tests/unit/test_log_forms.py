"""Entries of the span log that earlier releases wrote say what they said."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector_receiver.log.earlier import raw_spans
from collector_receiver.log.record import HEADER_BYTES, coded_of, parse_header, readable, rejections_of, whole
from collector_receiver.otlp import decode_batch
from collector_receiver.scrub import KEPT, RESOURCE_KEPT
from nexus.ports.span_log import Unread

# A request, and the entry that release 1.0 wrote of it.
FOLDER = Path(__file__).parent / "data" / "span-log-raw"


def test_what_was_logged_with_a_row_a_span_reads_as_what_is_logged_coded() -> None:
    entry = (FOLDER / "entry.seg").read_bytes()
    header, payload = parse_header(entry[:HEADER_BYTES]), entry[HEADER_BYTES:]
    assert header is not None
    assert whole(header, payload)
    wanted = decode_batch([(FOLDER / "request.otlp").read_bytes()], ["acme"], frozenset({"k"})).raw.frame()
    assert header.spans == wanted.height > 5
    assert coded_of([payload, payload]).frame().equals(wanted.vstack(wanted))


def test_what_cannot_be_decoded_is_told_and_takes_nothing_with_it() -> None:
    payload = (FOLDER / "entry.seg").read_bytes()[HEADER_BYTES:]
    later = payload.replace(b'"form":"raw"', b'"form":"new"')
    assert later != payload
    entries = [Unread(3, later, ""), Unread(5, payload, ""), Unread(7, payload[:200], ""), Unread(1, b"", "")]
    spans, unread = readable(entries)
    assert spans.frame().equals(coded_of([payload]).frame())
    assert [(one.spans, one.payload) for one in unread] == [(3, later), (7, payload[:200]), (1, b"")]
    assert "'new', which this release does not know" in unread[0].reason
    header = parse_header((FOLDER / "entry.seg").read_bytes()[:HEADER_BYTES])
    assert header is not None
    assert list(rejections_of(header, b"\0" * 9)) == []


LINK = pa.struct([("trace_id", pa.binary()), ("span_id", pa.binary())])
SPANS = pa.schema(
    [
        *((name, pa.binary()) for name in ("trace_id", "span_id", "trace_state", "parent_id", "name")),
        ("kind", pa.int32()),
        ("start", pa.uint64()),
        ("end", pa.uint64()),
        ("attributes", pa.list_(pa.binary())),
        ("links", pa.list_(LINK)),
        ("status", pa.struct([("message", pa.binary()), ("code", pa.int32())])),
        ("flags", pa.uint32()),
        ("block", pa.uint32()),
        ("attribute_count", pa.uint32()),
    ]
)
BLOCKS = pa.schema([("tenant", pa.string()), ("attributes", pa.list_(pa.binary()))])


def request(rng: random.Random) -> ExportTraceServiceRequest:
    message = ExportTraceServiceRequest()
    names, resource_names = [*sorted(KEPT), "of.no.use", "own"], [*sorted(RESOURCE_KEPT - {"nexus.telemetry"}), "other"]
    for _ in range(rng.randint(1, 3)):
        block = message.resource_spans.add()
        for name in rng.sample(resource_names, rng.randint(0, 4)):
            block.resource.attributes.add(key=name).value.string_value = rng.choice(["shop", "", "\uac00" * 50])
        for _ in range(rng.randint(1, 4)):
            span = block.scope_spans.add().spans.add(
                trace_id=rng.randbytes(16),
                span_id=rng.randbytes(8),
                parent_span_id=rng.choice([b"", rng.randbytes(8), bytes(8), b"odd", b"long" * 20, bytes(3)]),
                name=rng.choice(["", "GET /", "n" * 300]),
                trace_state=rng.choice(["", "ot=th:8"]),
                kind=rng.choice([0, 1, 5, 6]),
                flags=rng.choice([0, 0x300]),
                start_time_unix_nano=rng.choice([1, 1_768_478_400_000_000_000]),
                end_time_unix_nano=rng.choice([0, 2**63 - 1, 2**63, 2**64 - 1]),
            )
            if rng.random() < 0.5:
                span.status.code, span.status.message = rng.choice([0, 2, 7]), rng.choice(["", "bad"])
            for name in rng.sample(names, rng.randint(0, 5)):
                value = span.attributes.add(key=name).value
                if rng.random() < 0.5:
                    value.int_value = rng.choice([-1, 80])
                else:
                    value.string_value = rng.choice(["", "v"])
            for _ in range(rng.randint(0, 2)):
                span.links.add(
                    trace_id=rng.choice([rng.randbytes(16), b"", bytes(16)]),
                    span_id=rng.choice([rng.randbytes(8), b"", bytes(8)]),
                )
    return message


def before(message: ExportTraceServiceRequest, allowed: frozenset[str]) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Spans and blocks as release 1.0 logged them."""
    spans = [
        {
            "trace_id": span.trace_id,
            "span_id": span.span_id,
            "trace_state": span.trace_state.encode(),
            "parent_id": span.parent_span_id,
            "name": span.name.encode(),
            "kind": span.kind,
            "start": span.start_time_unix_nano,
            "end": span.end_time_unix_nano,
            "attributes": [item.SerializeToString() for item in span.attributes if item.key in KEPT | allowed],
            "links": [{"trace_id": link.trace_id, "span_id": link.span_id} for link in span.links],
            "status": {"message": span.status.message.encode(), "code": span.status.code}
            if span.HasField("status")
            else None,
            "flags": span.flags,
            "block": number,
            "attribute_count": len(span.attributes),
        }
        for number, block in enumerate(message.resource_spans)
        for scope in block.scope_spans
        for span in scope.spans
    ]
    blocks = [
        {
            "tenant": "acme",
            "attributes": [item.SerializeToString() for item in block.resource.attributes if item.key in RESOURCE_KEPT],
        }
        for block in message.resource_spans
    ]
    return pa.RecordBatch.from_pylist(spans, SPANS), pa.RecordBatch.from_pylist(blocks, BLOCKS)


@pytest.mark.parametrize("seed", range(25))
def test_any_span_of_the_earlier_form_reads_as_one_that_is_logged_coded(seed: int) -> None:
    message, allowed = request(random.Random(seed)), frozenset({"own"})
    wanted = decode_batch([message.SerializeToString()], ["acme"], allowed).raw.frame()
    assert wanted.height
    assert raw_spans(*before(message, allowed), allowed).frame().equals(wanted)
