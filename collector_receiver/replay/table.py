"""Spans as CSV rows with the ids of their parents, as data sets of traces keep them.

Such tables mostly state no kinds and no attributes. What a row under a row of another service says is a call all the same; more than that nothing can be told of it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from collector_receiver.replay.documents import opened
from collector_receiver.replay.problems import Problems
from collector_receiver.replay.values import (
    SHAPE_ERRORS,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    hex_id,
    key_values,
    reason,
    unsigned,
)
from nexus.errors import MalformedSpans

NAME: Final = "CSV of spans"
# Columns by what is left of their names without case and punctuation.
_COLUMNS: Final = {
    "trace": ("traceid",),
    "span": ("spanid",),
    "parent": ("parentid", "parentspanid"),
    "service": ("servicename", "service"),
    "pod": ("podname", "pod"),
    "name": ("operationname", "spanname", "operation", "name"),
    "start": ("starttimeunixnano",),
    "end": ("endtimeunixnano",),
    "kind": ("spankind", "kind"),
}
_NEEDED: Final = ("trace", "span", "parent", "name", "start", "end")
_NO_PARENT: Final = frozenset({"", "root", "null", "none", "nan", "-1"})
# What a Deployment adds to its name for a pod, in the alphabet that Kubernetes takes for it.
_POD_HASHES: Final = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$")

_KINDS: Final = {name.removeprefix("SPAN_KIND_"): number for name, number in Span.SpanKind.items()}

Columns = dict[str, int]


def columns(header: str) -> Columns | None:
    """Where the columns of a table of spans are; None where its header lacks what a span needs."""
    names = [re.sub(r"[^a-z]", "", name.lower()) for name in next(csv.reader([header]), [])]
    found = {what: names.index(name) for what, known in _COLUMNS.items() for name in known[::-1] if name in names}
    return found if all(what in found for what in _NEEDED) and ("service" in found or "pod" in found) else None


def read(path: Path, problems: Problems) -> Iterator[ResourceSpans]:
    """Spans with their resources, a row at a time."""
    with opened(path) as file:
        lines = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
        found = columns(lines.readline())
        assert found is not None
        try:
            for row in csv.reader(lines):
                if row:
                    yield from _spans(row, found, problems)
        except csv.Error as error:
            raise MalformedSpans(f"CSV: {error}") from error


def _spans(cells: list[str], found: Columns, problems: Problems) -> Iterator[ResourceSpans]:
    try:
        row = {what: cells[at].strip() for what, at in found.items()}
        pod, parent = row.get("pod", ""), row["parent"]
        resource = {"service.name": row.get("service") or _POD_HASHES.sub("", pod), "k8s.pod.name": pod}
        span = Span(
            trace_id=hex_id(row["trace"], TRACE_ID_BYTES, "the trace id"),
            span_id=hex_id(row["span"], SPAN_ID_BYTES, "the span id"),
            parent_span_id=b"" if parent.lower() in _NO_PARENT else hex_id(parent, SPAN_ID_BYTES, "the parent's id"),
            name=row["name"],
            kind=_KINDS.get(row.get("kind", "").upper().removeprefix("SPAN_KIND_"), Span.SPAN_KIND_UNSPECIFIED),
            start_time_unix_nano=unsigned(row["start"], "the start"),
            end_time_unix_nano=unsigned(row["end"], "the end"),
        )
    except (*SHAPE_ERRORS, IndexError) as error:
        problems.add(reason(error))
        return
    attributes = key_values((key, value) for key, value in resource.items() if value)
    yield ResourceSpans(resource=Resource(attributes=attributes), scope_spans=[ScopeSpans(spans=[span])])


__all__ = ["NAME", "columns", "read"]
