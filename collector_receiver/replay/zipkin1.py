"""Zipkin v1 JSON: who did what is in the annotations (`cs`, `cr`, `sr`, `ss`, `ms`, `mr`) and their endpoints.

One span holds both sides of a call: it becomes a client and a server span that share their id. The addresses
`sa`, `ca` and `ma` (binary annotations) name the other side. The service is that of the annotations' endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from collector_receiver.replay.problems import Problems
from collector_receiver.replay.values import SHAPE_ERRORS, reason, whole
from collector_receiver.replay.zipkin import Half, convert, endpoint

NAME = "Zipkin v1 JSON"
# Kind -> (first annotation, last annotation, address of the other side).
SIDES = {
    "CLIENT": ("cs", "cr", "sa"),
    "SERVER": ("sr", "ss", "ca"),
    "PRODUCER": ("ms", "ws", "ma"),
    "CONSUMER": ("mr", "wr", "ma"),
}
_CORE = frozenset(name for begin, end, _ in SIDES.values() for name in (begin, end))
_ADDRESSES = frozenset(address for *_, address in SIDES.values())


def is_span(item: object) -> bool:
    """Whether an object is a span of version 1."""
    if not isinstance(item, dict) or "traceId" not in item or "id" not in item:
        return False
    notes = item.get("annotations") or []
    return "binaryAnnotations" in item or any(isinstance(note, dict) and "endpoint" in note for note in notes)


def read(spans: Iterable[Any], problems: Problems) -> Iterator[ResourceSpans]:
    """Spans with their resources."""
    yield from convert(_halves(spans, problems), problems)


def _halves(spans: Iterable[Any], problems: Problems) -> Iterator[Half]:
    for span in spans:
        try:
            yield from _sides(span)
        except SHAPE_ERRORS as error:
            problems.add(reason(error))


def _sides(span: dict[str, Any]) -> Iterator[Half]:
    notes = [
        (
            str(note.get("value", "")),
            whole(note.get("timestamp") or 0, "an annotation's time"),
            endpoint(note.get("endpoint")),
        )
        for note in span.get("annotations") or []
    ]
    binary = [
        (str(item.get("key", "")), item.get("value"), endpoint(item.get("endpoint")))
        for item in span.get("binaryAnnotations") or []
    ]
    times = {value: time for value, time, _ in notes if value in _CORE}
    ends = {value: end for value, _, end in notes if value in _CORE}
    addresses = {key: end for key, value, end in binary if key in _ADDRESSES and _is_true(value)}
    kinds = [kind for kind, (begin, end, _) in SIDES.items() if begin in times or end in times]
    if not kinds:
        # An address alone says which side reported.
        kinds = [kind for kind, (*_, address) in SIDES.items() if address in addresses][:1] or [""]
    start, duration = whole(span.get("timestamp") or 0, "timestamp"), whole(span.get("duration") or 0, "duration")
    locals_ = {kind: _local(kind, ends, notes, binary) for kind in kinds}
    for kind in kinds:
        begin, end, address = SIDES.get(kind, ("", "", ""))
        # Both sides of one span share its times, so each side's own annotations come first.
        own_start = times.get(begin) or start
        own_duration = times[end] - times[begin] if times.get(begin) and times.get(end) else duration
        local = locals_[kind]
        service = str(local.get("serviceName") or "")
        alone = len(kinds) == 1
        other = next((found for name, found in locals_.items() if name != kind), {})
        yield Half(
            trace_id=str(span.get("traceId") or ""),
            span_id=str(span.get("id") or ""),
            parent_id=str(span.get("parentId") or ""),
            kind=kind,
            name=str(span.get("name") or ""),
            service=service,
            start_us=own_start,
            duration_us=max(0, own_duration),
            local=local,
            remote=addresses.get(address) or other,
            tags={
                key: value
                for key, value, end_of in binary
                if key not in addresses
                and (alone or not end_of or end_of.get("serviceName") == local.get("serviceName"))
            },
            annotations=[
                (time, value) for value, time, end_of in notes if value not in _CORE and (alone or end_of == local)
            ],
        )


def _is_true(value: Any) -> bool:
    """Addresses are binary annotations of a true, in the spellings of several encoders."""
    return value is True or (isinstance(value, str) and value in {"true", "1", "\x01", "AQ=="})


def _local(kind: str, ends: dict[str, dict[str, Any]], notes: list[Any], binary: list[Any]) -> dict[str, Any]:
    begin, end, _ = SIDES.get(kind, ("", "", ""))
    found = ends.get(begin) or ends.get(end)
    if found:
        return found
    own = [item for _, _, item in notes] + [item for key, _, item in binary if key not in _ADDRESSES]
    return next((item for item in own if item.get("serviceName")), {})
