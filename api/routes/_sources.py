"""Polled sources in JSON, for `/status` and `/otel/aggregate`."""

from __future__ import annotations

from datetime import datetime

from api.context import Json
from nexus.model.service import CoverageRange
from nexus.ports.coverage import SourceStatus


def when(at: datetime | None) -> str | None:
    """RFC 3339 with milliseconds."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at is not None else None


def source_json(source: SourceStatus) -> Json:
    """A polled source, as in docs/reference/status.md."""
    return {
        "name": source.name,
        "state": source.state.value,
        "reason": source.reason,
        "read_to": when(source.read_to),
        "settled_to": when(source.settled_to),
        "last_attempt": when(source.last_attempt),
        "last_success": when(source.last_success),
        "traces": source.traces,
        "spans": source.spans,
        "requests": source.requests,
        "ranges": {state: {"count": count, "seconds": seconds} for state, (count, seconds) in source.ranges.items()},
        "gaps": [gap_json(item) for item in source.gaps],
    }


def gap_json(item: CoverageRange) -> Json:
    """A range that was not read completely."""
    return {
        "from": when(item.start),
        "to": when(item.end),
        "state": item.state.value,
        "reason": item.reason,
        "probability": item.probability,
    }
