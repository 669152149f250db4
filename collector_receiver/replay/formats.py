"""What a JSON document is, and its reader; or, precisely, why it holds no traces that can be taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from collector_receiver.replay import jaeger, otlp_json, zipkin1, zipkin2
from collector_receiver.replay.problems import Problems
from nexus.errors import MalformedSpans

_SHOWN_KEYS = 6


def read(document: Any, problems: Problems) -> tuple[str, Iterator[ResourceSpans]]:
    """(name of the format, resources with spans). MalformedSpans with the reason where it is none."""
    if isinstance(document, list):
        return _read_list(document, problems)
    if not isinstance(document, dict):
        raise MalformedSpans("JSON, but neither an object nor a list")
    if otlp_json.is_otlp(document):
        return otlp_json.NAME, otlp_json.read(document, problems)
    if jaeger.is_trace(document):
        return jaeger.NAME, jaeger.read_trace(document, problems)
    # An Elasticsearch hit, an answer of Jaeger, of Tempo's v2 API or of Jaeger's v3 API.
    for wrapper in ("_source", "data", "trace", "result"):
        if isinstance(document.get(wrapper), (dict, list)) and document[wrapper]:
            return read(document[wrapper], problems)
    if isinstance(document.get("hits"), dict):
        return read(document["hits"].get("hits") or [], problems)
    if jaeger.is_span(document):
        return jaeger.NAME, jaeger.read_span(document, document.get("process"), problems)
    if zipkin1.is_span(document):
        return zipkin1.NAME, zipkin1.read([document], problems)
    if zipkin2.is_span(document):
        return zipkin2.NAME, zipkin2.read([document], problems)
    raise MalformedSpans(_why_not(document))


def _read_list(items: list[Any], problems: Problems) -> tuple[str, Iterator[ResourceSpans]]:
    first = next((item for item in items if item), None)
    if first is None:
        return "empty list", iter(())
    for reader in (zipkin1, zipkin2):
        # One version 1 span in a list makes the list version 1: spans without annotations look alike.
        found = [item for item in items if reader.is_span(item)]
        if found and (reader is zipkin1 or len(found) == len(items)):
            return reader.NAME, reader.read(items, problems)
    if isinstance(first, (dict, list)) and _is_known(first):
        return read(first, Problems())[0], _each(items, problems)
    raise MalformedSpans(_why_not(first) if isinstance(first, dict) else "a JSON list of something other than traces")


def _is_known(item: Any) -> bool:
    try:
        read(item, Problems())
    except MalformedSpans:
        return False
    return True


def _each(items: list[Any], problems: Problems) -> Iterator[ResourceSpans]:
    for item in items:
        try:
            _, found = read(item, problems)
        except MalformedSpans as error:
            problems.add(str(error))
            continue
        yield from found


def _why_not(document: dict[str, Any]) -> str:
    keys = document.keys()
    if "resourceLogs" in keys or "resourceMetrics" in keys:
        return "OTLP logs or metrics: only traces make edges"
    if {"parent", "child", "callCount"} <= keys:
        return "a dependency list (parent, child, callCount), no spans: there is nothing to observe in it"
    traces = document.get("traces")
    if isinstance(traces, list) and all(isinstance(item, dict) and "traceID" in item for item in traces):
        return "search results of Tempo, not traces: they name traces and hold a few spans of each; fetch the traces by id (/api/v2/traces/{id})"
    if {"ID", "RootSpan"} <= keys:
        return "a trace in Tracetest's own format, which keeps no span kinds and no resources: a call cannot be told from a local span; export it as OTLP"
    if "offset_ms" in keys or "minutes_ago" in keys:
        return "span rows with relative times and without trace ids (a test seeder's input): they belong to no trace and to no time; export the seeded traces as OTLP or Jaeger JSON"
    named = ", ".join(sorted(map(str, keys))[:_SHOWN_KEYS]) or "none"
    return f"JSON of no known trace format (its keys: {named})"
