"""What Zipkin v1 and v2 share: endpoints, meanings of tags, fragments of one span.

Client and server of one call may share a span id: both are kept, as two spans. A part of a span that was reported without
a time (a late flush of the same service) is joined to the part with a time; where there is none the span cannot be placed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from collector_receiver.replay.opentracing import meanings
from collector_receiver.replay.problems import Problems
from collector_receiver.replay.values import (
    SHAPE_ERRORS,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    BadSpan,
    hex_id,
    key_values,
    reason,
    whole,
)

KINDS = {
    "CLIENT": Span.SPAN_KIND_CLIENT,
    "SERVER": Span.SPAN_KIND_SERVER,
    "PRODUCER": Span.SPAN_KIND_PRODUCER,
    "CONSUMER": Span.SPAN_KIND_CONSUMER,
}
# Tags of Brave's messaging instrumentation -> (messaging system, is it the destination?).
_DESTINATIONS = {
    "kafka.topic": ("kafka", True),
    "rabbit.exchange": ("rabbitmq", True),
    "rabbit.routing_key": ("rabbitmq", False),
    "jms.queue": ("jms", True),
    "jms.topic": ("jms", True),
}
_BROKERS = frozenset({"activemq", "jms", "kafka", "nats", "pulsar", "rabbitmq", "rocketmq", "sns", "sqs"})


@dataclass(slots=True)
class Half:
    """One side of one span, as one service reported it. Times in microseconds; 0 = not reported."""

    trace_id: str
    span_id: str
    parent_id: str
    kind: str
    name: str
    service: str
    start_us: int
    duration_us: int
    local: dict[str, Any] = field(default_factory=dict)
    remote: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, Any] = field(default_factory=dict)
    annotations: list[tuple[int, str]] = field(default_factory=list)


def joined(halves: Iterable[Half]) -> Iterator[Half]:
    """Halves with a time; those without give what they know to one of the same span and service, else stay as they are."""
    whole_ones: list[Half] = []
    fragments: list[Half] = []
    for half in halves:
        (whole_ones if half.start_us else fragments).append(half)
    by_span = {(half.trace_id, half.span_id, half.service): half for half in whole_ones}
    for fragment in fragments:
        target = by_span.get((fragment.trace_id, fragment.span_id, fragment.service))
        if target is None or (fragment.kind and target.kind and fragment.kind != target.kind):
            yield fragment
            continue
        target.kind = target.kind or fragment.kind
        target.remote = target.remote or fragment.remote
        target.tags = fragment.tags | target.tags
        target.annotations += fragment.annotations
    yield from whole_ones


def convert(halves: Iterable[Half], problems: Problems) -> Iterator[ResourceSpans]:
    """Each half as a span with its resource."""
    for half in joined(halves):
        try:
            span = _span(half)
        except SHAPE_ERRORS as error:
            problems.add(reason(error))
            continue
        resource = Resource(attributes=key_values([("service.name", half.service)] if half.service else []))
        yield ResourceSpans(resource=resource, scope_spans=[ScopeSpans(spans=[span])])


def _span(half: Half) -> Span:
    if not half.start_us:
        raise BadSpan("a span without timestamp")
    if not 0 < half.start_us < 2**63 // 1000 or half.duration_us < 0:
        raise BadSpan("a timestamp out of range")
    tags = {
        str(key): value if isinstance(value, (str, bool, int, float)) else str(value)
        for key, value in half.tags.items()
    }
    return Span(
        trace_id=hex_id(half.trace_id, TRACE_ID_BYTES, "traceId"),
        span_id=hex_id(half.span_id, SPAN_ID_BYTES, "id"),
        parent_span_id=hex_id(half.parent_id, SPAN_ID_BYTES, "parentId") if half.parent_id else b"",
        name=half.name,
        kind=KINDS.get(half.kind, Span.SPAN_KIND_INTERNAL if "lc" in tags else Span.SPAN_KIND_UNSPECIFIED),
        start_time_unix_nano=half.start_us * 1000,
        end_time_unix_nano=(half.start_us + half.duration_us) * 1000,
        attributes=key_values((meanings(tags) | _meaning(half, tags) | tags).items()),
        status=_status(tags),
        events=[Span.Event(time_unix_nano=max(0, time) * 1000, name=value) for time, value in half.annotations],
    )


def _meaning(half: Half, tags: dict[str, Any]) -> dict[str, Any]:
    """Attributes for what Zipkin says outside of tags: peers, and the topic behind the messaging tags."""
    out: dict[str, Any] = {}
    for prefix, end in (("network.local", half.local), ("network.peer", half.remote)):
        address = end.get("ipv4") or end.get("ipv6")
        if address:
            out[f"{prefix}.address"] = str(address)
        if end.get("port"):
            out[f"{prefix}.port"] = whole(end["port"], "a port")
    peer = str(half.remote.get("serviceName") or "")
    if half.kind in {"PRODUCER", "CONSUMER"}:
        # The remote endpoint of messaging spans is the broker.
        system = peer.lower() if peer.lower() in _BROKERS else ""
        for tag, (owner, is_destination) in _DESTINATIONS.items():
            if tag in tags:
                system = system or owner
                name = "messaging.destination.name" if is_destination else "messaging.rabbitmq.destination.routing_key"
                out.setdefault(name, str(tags[tag]))
        if not system and half.kind == "CONSUMER" and "rabbit.queue" in tags:
            system = "rabbitmq"
        if system:
            out["messaging.system"] = system
    elif peer:
        out["peer.service"] = peer
    return out


def _status(tags: dict[str, Any]) -> Status:
    code = str(tags.get("otel.status_code", "")).upper()
    if code == "OK":
        return Status(code=Status.STATUS_CODE_OK)
    error = tags.get("error")
    text = str(error or tags.get("otel.status_description") or "")
    # The presence of the tag is the error, whatever its value; only "false" says the contrary.
    if code == "ERROR" or (error is not None and str(error).lower() != "false"):
        return Status(code=Status.STATUS_CODE_ERROR, message="" if text.lower() == "true" else text)
    return Status()


def endpoint(value: Any) -> dict[str, Any]:
    """An endpoint as an object, empty where there is none."""
    return value if isinstance(value, dict) else {}
