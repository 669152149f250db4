"""`python -m nexus.wiring.compile_ahead`: compile what is compiled on first use, so that an image brings it along and its first start is a quick one."""

from __future__ import annotations

from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aggregator.codec import encode
from aggregator.concepts import Infrastructure
from aggregator.delta import delta, unseen
from aggregator.merge import by_minute
from aggregator.parts import added, together
from aggregator.steps import Rules
from collector_receiver.json_walk import compile_now
from collector_receiver.otlp import decode_batch
from nexus.model.coded import no_spans
from nexus.model.span import Kind
from nexus.model.tables import Sieve
from nexus.store.copied import copied

NOW_NS: Final = 1_800_000_000_000_000_000


def request() -> bytes:
    """A call between two services, and a message."""
    message = ExportTraceServiceRequest()
    for number, (service, kind) in enumerate(
        (("shop", Kind.CLIENT), ("cart", Kind.SERVER), ("cart", Kind.PRODUCER), ("mail", Kind.CONSUMER)), 1
    ):
        resource = message.resource_spans.add()
        resource.resource.attributes.add(key="service.name").value.string_value = service
        span = resource.scope_spans.add().spans.add(
            trace_id=b"\1" * 16,
            span_id=bytes([number]) * 8,
            parent_span_id=bytes([number - 1]) * 8 if number > 1 else b"",
            name="op",
            kind=int(kind),
            start_time_unix_nano=NOW_NS + number,
            end_time_unix_nano=NOW_NS + 1000,
        )
        span.attributes.add(key="messaging.system" if number > 2 else "rpc.system").value.string_value = "kafka"
        if number == 4:  # the consumer names the message too
            span.links.add(trace_id=b"\1" * 16, span_id=b"\3" * 8)
    return bytes(message.SerializeToString())


def main() -> int:
    """Send the request through everything that is compiled; something above zero."""
    spans = decode_batch([request()], ["default"]).raw.coded()
    keys = spans.rows["tk"].to_numpy()
    compile_now()
    change = delta(unseen(spans, no_spans())[0], no_spans(), Rules(infrastructure=Infrastructure((), ())))
    rows = by_minute(change.rows).came
    return sum(map(len, copied(encode(added(together([rows, rows])))))) + int(Sieve(keys).may_hold(keys).sum())


if __name__ == "__main__":
    main()
