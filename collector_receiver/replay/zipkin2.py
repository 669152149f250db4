"""Zipkin v2 JSON: a list of spans (or of traces), `kind`, `localEndpoint`, `remoteEndpoint`, `tags`, `shared`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from collector_receiver.replay.problems import Problems
from collector_receiver.replay.values import SHAPE_ERRORS, reason, whole
from collector_receiver.replay.zipkin import Half, convert, endpoint

NAME = "Zipkin v2 JSON"


def is_span(item: object) -> bool:
    """Whether an object is a span of version 2: an id, and nothing that only version 1 has."""
    if not isinstance(item, dict) or "traceId" not in item or "id" not in item or "binaryAnnotations" in item:
        return False
    return not any(isinstance(note, dict) and "endpoint" in note for note in item.get("annotations") or [])


def read(spans: Iterable[Any], problems: Problems) -> Iterator[ResourceSpans]:
    """Spans with their resources."""
    yield from convert(_halves(spans, problems), problems)


def _halves(spans: Iterable[Any], problems: Problems) -> Iterator[Half]:
    for span in spans:
        try:
            local = endpoint(span.get("localEndpoint"))
            yield Half(
                trace_id=str(span.get("traceId") or ""),
                span_id=str(span.get("id") or ""),
                parent_id=str(span.get("parentId") or ""),
                kind=str(span.get("kind") or "").upper(),
                name=str(span.get("name") or ""),
                service=str(local.get("serviceName") or ""),
                start_us=whole(span.get("timestamp") or 0, "timestamp"),
                duration_us=whole(span.get("duration") or 0, "duration"),
                local=local,
                remote=endpoint(span.get("remoteEndpoint")),
                tags=dict(span.get("tags") or {}),
                annotations=[
                    (whole(note.get("timestamp") or 0, "an annotation's time"), str(note.get("value", "")))
                    for note in span.get("annotations") or []
                ],
            )
        except SHAPE_ERRORS as error:
            problems.add(reason(error))
