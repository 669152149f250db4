"""Nodes of the graph, and what each service reported about itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum


class NodeKind(StrEnum):
    """What an end of an edge is."""

    SERVICE = "service"
    DATABASE = "database"
    TOPIC = "topic"
    EXTERNAL = "external"
    API = "api"


UNNAMED = "(unnamed)"
ADDRESS_CLASS = "(ip)"
ANONYMOUS = "(anonymous)"


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """One end of an edge. `name` is spelled as in api.md: `namespace/name`, `system/host/name`, `system/destination`."""

    name: str
    kind: NodeKind = NodeKind.SERVICE
    environment: str = ""


@dataclass(frozen=True, slots=True)
class ServiceDay:
    """One service on one UTC day: what the diff needs to tell "not called" from "not visible".

    `entry_spans` are those kept (not extrapolated): the opportunities of drift.md section 3.
    `exits` and `exits_resolved` are by protocol family: exit spans, and those paired or resolved.
    """

    service: Node
    day: date
    spans: int
    entry_spans: int
    exits: dict[str, int] = field(default_factory=dict)
    exits_resolved: dict[str, int] = field(default_factory=dict)
    sampling_known: float = 0.0
    # Smallest known sampling probability of the day; null where none is known.
    probability: float | None = None
    versions: tuple[str, ...] = ()
    instances: int = 0


class RangeState(StrEnum):
    """What became of one time range of one source."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    FAILED = "failed"
    PENDING = "pending"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class CoverageRange:
    """A range of event time that a source read completely, or did not, and why."""

    source: str
    start: datetime
    end: datetime
    state: RangeState
    reason: str = ""
    # Known ratio of traces kept in the range, where the source samples.
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was visible in a window. `gaps` are ranges that no source read completely."""

    complete: bool
    gaps: tuple[CoverageRange, ...] = ()
    # "none", "head", "tail" or "unknown": drift.md section 3 decides nothing on tail-sampled data.
    sampling_policy: str = "unknown"
