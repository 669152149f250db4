"""OTLP JSON: ids in hex (or base64, as protobuf's own JSON and Tempo have them), enums by number or name.

Taken under `resourceSpans` and under Tempo's older `batches`; scope spans also under `instrumentationLibrarySpans`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from collector_receiver.replay.problems import Problems
from collector_receiver.replay.values import (
    SHAPE_ERRORS,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    BadSpan,
    any_id,
    reason,
    unsigned,
    whole,
)

NAME = "OTLP JSON"
ROOTS = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")


def is_otlp(document: dict[str, Any]) -> bool:
    """Whether a document is an export request or a trace of Tempo."""
    return any(isinstance(document.get(root), list) for root in ROOTS)


def read(document: dict[str, Any], problems: Problems) -> Iterator[ResourceSpans]:
    """Each resource with its spans. Spans that cannot be read are counted in `problems`."""
    for item in _list(_first(document, *ROOTS)):
        if not isinstance(item, dict):
            problems.add("a resource that is no object")
            continue
        try:
            yield _resource(item, problems)
        except SHAPE_ERRORS:
            problems.add("a resource that is not shaped like one")


def _resource(item: dict[str, Any], problems: Problems) -> ResourceSpans:
    resource = item.get("resource") or {}
    return ResourceSpans(
        resource=Resource(attributes=_attributes(resource.get("attributes"))),
        schema_url=str(_first(item, "schemaUrl", "schema_url") or ""),
        scope_spans=[_scope(scope, problems) for scope in _list(_first(item, *_SCOPES)) if isinstance(scope, dict)],
    )


def _scope(item: dict[str, Any], problems: Problems) -> ScopeSpans:
    about = _first(item, "scope", "instrumentationLibrary") or {}
    scope = ScopeSpans(
        scope=InstrumentationScope(
            name=str(about.get("name", "")),
            version=str(about.get("version", "")),
            attributes=_attributes(about.get("attributes")),
        ),
        schema_url=str(_first(item, "schemaUrl", "schema_url") or ""),
    )
    for span in _list(item.get("spans")):
        try:
            scope.spans.append(_span(span))
        except SHAPE_ERRORS as error:
            problems.add(reason(error))
    return scope


def _span(span: dict[str, Any]) -> Span:
    status = span.get("status") or {}
    parent = _first(span, "parentSpanId", "parent_span_id")
    return Span(
        trace_id=any_id(_first(span, "traceId", "trace_id") or "", TRACE_ID_BYTES, "traceId"),
        span_id=any_id(_first(span, "spanId", "span_id") or "", SPAN_ID_BYTES, "spanId"),
        parent_span_id=any_id(parent, SPAN_ID_BYTES, "parentSpanId") if parent else b"",
        trace_state=str(_first(span, "traceState", "trace_state") or ""),
        flags=unsigned(span.get("flags") or 0, "flags", 32),
        name=str(span.get("name", "")),
        kind=_enum(span.get("kind"), Span.SpanKind.items(), "SPAN_KIND_"),
        start_time_unix_nano=unsigned(
            _first(span, "startTimeUnixNano", "start_time_unix_nano") or 0, "startTimeUnixNano"
        ),
        end_time_unix_nano=unsigned(_first(span, "endTimeUnixNano", "end_time_unix_nano") or 0, "endTimeUnixNano"),
        attributes=_attributes(span.get("attributes")),
        dropped_attributes_count=unsigned(
            _first(span, "droppedAttributesCount", "dropped_attributes_count") or 0, "droppedAttributesCount", 32
        ),
        events=[_event(event) for event in _list(span.get("events"))],
        links=[_link(link) for link in _list(span.get("links"))],
        status=Status(
            code=_enum(status.get("code"), Status.StatusCode.items(), "STATUS_CODE_"),
            message=str(status.get("message", "")),
        ),
    )


def _event(event: dict[str, Any]) -> Span.Event:
    time = unsigned(_first(event, "timeUnixNano", "time_unix_nano") or 0, "event timeUnixNano")
    return Span.Event(
        time_unix_nano=time, name=str(event.get("name", "")), attributes=_attributes(event.get("attributes"))
    )


def _link(link: dict[str, Any]) -> Span.Link:
    return Span.Link(
        trace_id=any_id(_first(link, "traceId", "trace_id") or "", TRACE_ID_BYTES, "link traceId"),
        span_id=any_id(_first(link, "spanId", "span_id") or "", SPAN_ID_BYTES, "link spanId"),
        trace_state=str(_first(link, "traceState", "trace_state") or ""),
        attributes=_attributes(link.get("attributes")),
        flags=unsigned(link.get("flags") or 0, "link flags", 32),
    )


def _enum(value: Any, items: list[tuple[str, int]], prefix: str) -> Any:
    """A number as it is (the receiver reads unknown ones as unspecified); a name with or without its prefix."""
    if value is None:
        return 0
    if isinstance(value, str) and not value.lstrip("-").isdigit():
        names = {name.removeprefix(prefix): number for name, number in items}
        return names.get(value.upper().removeprefix(prefix), 0)
    number = whole(value, "an enum")
    return number if -(2**31) <= number < 2**31 else 0


def _attributes(items: Any) -> list[KeyValue]:
    return [
        KeyValue(key=str(item.get("key", "")), value=_value(item.get("value") or {}))
        for item in _list(items)
        if isinstance(item, dict)
    ]


def _value(value: Any) -> AnyValue:
    content: Any
    name, content = next(iter(value.items()), ("", None)) if isinstance(value, dict) else ("", None)
    match name:
        case "stringValue" | "string_value":
            return AnyValue(string_value=str(content))
        case "boolValue" | "bool_value":
            return AnyValue(bool_value=content in {True, "true", "True"})
        case "intValue" | "int_value":
            return AnyValue(int_value=whole(content, "an intValue"))
        case "doubleValue" | "double_value":
            return AnyValue(double_value=float(content))
        case "bytesValue" | "bytes_value":
            try:
                return AnyValue(bytes_value=base64.b64decode(content))
            except (binascii.Error, ValueError, TypeError):
                raise BadSpan("a bytesValue is not base64") from None
        case "arrayValue" | "array_value":
            return AnyValue(
                array_value=ArrayValue(values=[_value(item) for item in _list((content or {}).get("values"))])
            )
        case "kvlistValue" | "kvlist_value":
            return AnyValue(kvlist_value=KeyValueList(values=_attributes((content or {}).get("values"))))
    return AnyValue()


def _first(item: dict[str, Any], *names: str) -> Any:
    return next((item[name] for name in names if name in item), None)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
