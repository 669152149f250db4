"""Jaeger JSON: the UI's (`data`, `spans`, `processes`), the domain model's and Elasticsearch documents (a process in each span).

References: the first CHILD_OF of the same trace is the parent, else the first FOLLOWS_FROM of it (as in Jaeger itself);
all others become links. Tags `span.kind`, `error`, `otel.status_code`, `otel.status_description`, `w3c.tracestate` are read
for what they mean, and stay attributes too.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from collector_receiver.replay.opentracing import meanings
from collector_receiver.replay.problems import Problems
from collector_receiver.replay.values import (
    SHAPE_ERRORS,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    BadSpan,
    any_id,
    key_values,
    reason,
    whole,
)

NAME = "Jaeger JSON"
KINDS = {
    name: getattr(Span, f"SPAN_KIND_{name.upper()}")
    for name in ("client", "server", "producer", "consumer", "internal")
}
_DURATION = re.compile(r"([0-9.]+)(ns|us|µs|ms|s|m|h)")
_UNIT_NS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}


def is_span(item: object) -> bool:
    """Whether an object is a span of Jaeger."""
    return isinstance(item, dict) and "operationName" in item and ("spanID" in item or "spanId" in item)


def is_trace(item: object) -> bool:
    """Whether an object is a trace: spans, perhaps with their processes aside."""
    spans = item.get("spans") if isinstance(item, dict) else None
    return isinstance(spans, list) and (
        any(is_span(span) for span in spans) or (isinstance(item, dict) and "processes" in item)
    )


def read_trace(trace: dict[str, Any], problems: Problems) -> Iterator[ResourceSpans]:
    """Spans of one trace, one resource each: they are put together when packed."""
    processes = trace.get("processes")
    for span in trace["spans"]:
        if not isinstance(span, dict):
            problems.add("a span that is no object")
            continue
        process = span.get("process") or (processes.get(span.get("processID")) if isinstance(processes, dict) else None)
        yield from read_span(span, process, problems)


def read_span(span: dict[str, Any], process: dict[str, Any] | None, problems: Problems) -> Iterator[ResourceSpans]:
    """One span with its resource."""
    if not isinstance(process, dict):
        problems.add("a span whose process is not in the file")
        return
    try:
        tags = dict(_tags(span.get("tags"), span.get("tag")))
        scope = InstrumentationScope(
            name=str(tags.get("otel.scope.name") or tags.get("otel.library.name") or ""),
            version=str(tags.get("otel.scope.version") or tags.get("otel.library.version") or ""),
        )
        yield ResourceSpans(
            resource=_resource(process), scope_spans=[ScopeSpans(scope=scope, spans=[_span(span, tags)])]
        )
    except SHAPE_ERRORS as error:
        problems.add(reason(error))


def _resource(process: dict[str, Any]) -> Resource:
    attributes = dict(_tags(process.get("tags"), process.get("tag")))
    attributes["service.name"] = str(process.get("serviceName", ""))
    if "hostname" in attributes:
        attributes.setdefault("host.name", attributes["hostname"])
    return Resource(attributes=key_values(attributes.items()))


def _span(span: dict[str, Any], tags: dict[str, Any]) -> Span:
    trace_id = any_id(_either(span, "traceID", "traceId"), TRACE_ID_BYTES, "traceID")
    start = _time_ns(span)
    parent, links = _references(span, trace_id)
    return Span(
        trace_id=trace_id,
        span_id=any_id(_either(span, "spanID", "spanId"), SPAN_ID_BYTES, "spanID"),
        parent_span_id=parent,
        links=links,
        name=str(span.get("operationName", "")),
        kind=KINDS.get(str(tags.get("span.kind", "")).lower(), Span.SPAN_KIND_UNSPECIFIED),
        trace_state=str(tags.get("w3c.tracestate", "")),
        start_time_unix_nano=start,
        end_time_unix_nano=start + _duration_ns(span.get("duration")),
        attributes=key_values((meanings(tags) | tags).items()),
        events=[_event(log) for log in span.get("logs") or []],
        status=_status(tags),
    )


def _references(span: dict[str, Any], trace_id: bytes) -> tuple[bytes, list[Span.Link]]:
    found: list[tuple[str, bytes, bytes]] = []
    for reference in span.get("references") or []:
        other = any_id(
            _either(reference, "traceID", "traceId") or trace_id.hex(), TRACE_ID_BYTES, "a reference's traceID"
        )
        kind = str(reference.get("refType") or "CHILD_OF").upper()
        found.append(
            (kind, other, any_id(_either(reference, "spanID", "spanId"), SPAN_ID_BYTES, "a reference's spanID"))
        )
    own = _either(span, "parentSpanID", "parentSpanId")
    if own and not any(other == trace_id for _, other, _ in found):
        found.insert(0, ("CHILD_OF", trace_id, any_id(own, SPAN_ID_BYTES, "parentSpanID")))
    parent = next(
        (ref for wanted in ("CHILD_OF", "FOLLOWS_FROM") for ref in found if ref[0] == wanted and ref[1] == trace_id),
        None,
    )
    links = [
        Span.Link(trace_id=other, span_id=span_id, attributes=key_values([("opentracing.ref_type", kind.lower())]))
        for kind, other, span_id in (ref for ref in found if ref is not parent)
    ]
    return (parent[2] if parent else b""), links


def _status(tags: dict[str, Any]) -> Status:
    message = str(tags.get("otel.status_description") or tags.get("error.message") or "")
    code = str(tags.get("otel.status_code", "")).upper()
    if code in {"OK", "ERROR"}:
        return Status(
            code=Status.STATUS_CODE_OK if code == "OK" else Status.STATUS_CODE_ERROR,
            message=message if code == "ERROR" else "",
        )
    error = tags.get("error")
    failed = error is True or (isinstance(error, str) and error.strip().lower() not in {"", "false", "0"})
    return Status(code=Status.STATUS_CODE_ERROR, message=message) if failed else Status()


def _event(log: dict[str, Any]) -> Span.Event:
    fields = dict(_tags(log.get("fields"), None))
    name = str(fields.pop("event", ""))
    return Span.Event(
        time_unix_nano=_instant_ns(log.get("timestamp")), name=name, attributes=key_values(fields.items())
    )


def _tags(tags: Any, flat: Any) -> Iterator[tuple[str, Any]]:
    """Tags as a list of typed values, or (Elasticsearch, `tags as fields`) as an object whose dots may be `@`."""
    if isinstance(flat, dict):
        yield from ((str(key).replace("@", "."), value) for key, value in flat.items())
    for tag in tags if isinstance(tags, list) else []:
        yield str(tag.get("key", "")), _tag_value(tag)


def _tag_value(tag: dict[str, Any]) -> Any:
    kind = str(tag.get("type") or tag.get("vType") or "string").lower()
    value = next(
        (tag[name] for name in ("value", "vStr", "vBool", "vInt64", "vFloat64", "vBinary") if name in tag), None
    )
    match kind:
        case "bool":
            return value in {True, "true", "True"} if isinstance(value, (bool, str)) else bool(value)
        case "int64":
            return whole(value or 0, "an int64 tag")
        case "float64":
            try:
                return float(value or 0)
            except (TypeError, ValueError):
                raise BadSpan("a float64 tag is no number") from None
        case "binary":
            try:
                return base64.b64decode(value or "")
            except (binascii.Error, ValueError, TypeError):
                raise BadSpan("a binary tag is not base64") from None
    return "" if value is None else value if isinstance(value, (str, bool, int, float)) else str(value)


def _time_ns(span: dict[str, Any]) -> int:
    start = _instant_ns(span.get("startTime") or (1000 * whole(span.get("startTimeMillis") or 0, "startTimeMillis")))
    if start <= 0:
        raise BadSpan("a span without startTime")
    return start


def _instant_ns(value: Any) -> int:
    """Microseconds since the epoch (UI, Elasticsearch) or RFC 3339 with up to nine decimals (domain model)."""
    if isinstance(value, str) and not value.isdigit():
        match = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", value)
        if match is None:
            raise BadSpan("a time that is neither microseconds nor RFC 3339")
        seconds = datetime.fromisoformat(match[1] + match[3].replace("Z", "+00:00")).timestamp()
        return int(seconds) * 1_000_000_000 + int((match[2] or "0").ljust(9, "0"))
    number = whole(value or 0, "a time")
    if not 0 <= number < 2**63 // 1000:
        raise BadSpan("a time out of range")
    return number * 1000


def _duration_ns(value: Any) -> int:
    if isinstance(value, str) and not value.isdigit():
        parts = _DURATION.findall(value)
        if not parts or "".join(number + unit for number, unit in parts) != value:
            raise BadSpan("a duration that is neither microseconds nor like 1.5ms")
        return sum(int(float(number) * _UNIT_NS[unit]) for number, unit in parts)
    return max(0, whole(value or 0, "a duration")) * 1000


def _either(item: dict[str, Any], *names: str) -> Any:
    return next((item[name] for name in names if item.get(name)), "")
