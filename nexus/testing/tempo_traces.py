"""Traces for a fake Tempo: a call from `web` to `checkout` and on to `payment`, as OTLP bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from nexus.testing.fake_tempo import Stored

SERVICES = ("web", "checkout", "payment")
_MS = 1_000_000


def stored_trace(
    trace_id: bytes,
    start_ns: int,
    services: Sequence[str] = SERVICES,
    *,
    visible_from: float = 0.0,
    partial: str = "",
    salt: int = 0,
) -> Stored:
    """One trace: a server span in each service, and a client span above each but the first. `salt` adds that many local spans to the last one."""
    data = TracesData()
    parent = b""
    counts: dict[str, int] = {}
    number = 0
    for depth, service in enumerate(services):
        last = depth + 1 == len(services)
        resource = data.resource_spans.add()
        resource.resource.attributes.add(key="service.name").value.string_value = service
        scope = resource.scope_spans.add()
        kinds = [Span.SPAN_KIND_SERVER, *([Span.SPAN_KIND_INTERNAL] * salt if last else [Span.SPAN_KIND_CLIENT])]
        for step, kind in enumerate(kinds):
            number += 1
            begin = start_ns + (2 * depth + min(step, 1)) * _MS
            span = scope.spans.add(
                trace_id=trace_id,
                span_id=number.to_bytes(8, "big"),
                parent_span_id=parent,
                kind=kind,
                name=f"{service} {step}",
                start_time_unix_nano=begin,
                end_time_unix_nano=start_ns + (50 - 2 * depth) * _MS,
            )
            if kind != Span.SPAN_KIND_INTERNAL:
                parent = span.span_id
        counts[service] = counts.get(service, 0) + len(kinds)
    return Stored(trace_id, start_ns, start_ns + 50 * _MS, data.SerializeToString(), counts, visible_from, partial)


def burst(
    count: int, start_s: float, spread_s: float, *, seed: int = 1, services: Sequence[str] = SERVICES
) -> Iterator[Stored]:
    """`count` traces, starting within `spread_s` seconds from `start_s` on; ids are random, one in 256 begins with a zero byte."""
    source = random.Random(seed)  # noqa: S311  # reproducible test data
    for _ in range(count):
        start = int(start_s * 1_000_000_000) + source.randrange(max(1, int(spread_s * 1_000_000_000)))
        yield stored_trace(source.randbytes(16), start, services)
