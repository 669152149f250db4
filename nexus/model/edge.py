"""Observed and designed edges, as every reader gets them (api.md gives the JSON)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from nexus.model.claim import Claim, Via
from nexus.model.service import Node


class Layer(StrEnum):
    """Which of the two layers an edge belongs to."""

    OBSERVED = "observed"
    DESIGNED = "designed"


class Relation(StrEnum):
    """Relation types. Orientation is dependency: who depends, on what."""

    CALLS = "CALLS"
    PUBLISHES = "PUBLISHES"
    SUBSCRIBES = "SUBSCRIBES"
    CALLS_OBSERVED = "CALLS_OBSERVED"
    PUBLISHES_OBSERVED = "PUBLISHES_OBSERVED"
    SUBSCRIBES_OBSERVED = "SUBSCRIBES_OBSERVED"
    DELIVERS_OBSERVED = "DELIVERS_OBSERVED"


# Ranks around those that documents promise: how many calls took longer is known as exactly as the ranks beside the limit.
FINE = (0.85, 0.92, 0.97, 0.98, 0.995, 0.998)


@dataclass(frozen=True, slots=True)
class Latency:
    """Summary of a sketch, milliseconds. Quantiles carry the sketch's stated relative error.

    `fine`: the values at the ranks `FINE`, where they are known; for promises, neither shown nor stored.
    """

    count: int
    sum: float
    min: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float
    fine: tuple[float, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Cause:
    """An operation pair behind an edge; null where there is none to name (publishing has no callee). "(other)" is the overflow row."""

    caller_operation: str | None
    callee_operation: str | None
    calls: int


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A trace that shows the edge. `outcome` is error, slowest or ordinary; ids are lower-case hex."""

    outcome: str
    trace_id: str
    span_id: str = ""
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """A query that finds the edge's traces in a backend; closed time range."""

    backend: str
    query: str
    start: datetime
    end: datetime
    url: str = ""


@dataclass(frozen=True, slots=True)
class Support:
    """In how many independent places an edge was seen."""

    instances: int
    instance_hours: int


@dataclass(frozen=True, slots=True)
class ObservedEdge:
    """One observed edge over one range of windows; measures as in observed-edges.md section 5."""

    rid: str
    relation: Relation
    source: Node
    target: Node
    infrastructure: bool = False
    is_self: bool = False
    calls: int = 0
    handled: int = 0
    messages: int = 0
    retries: int = 0
    errors: int = 0
    client_errors: int = 0
    server_errors: int = 0
    cancelled: int = 0
    observed: int = 0
    adjusted_calls: float | None = None
    adjusted_errors: float | None = None
    sampling_known: float = 0.0
    clock_suspect: int = 0
    queue_unmeasured: int = 0
    protocols: dict[str, int] = field(default_factory=dict)
    via: dict[str, int] = field(default_factory=dict)
    # Of calls to a database, as "SELECT orders"; of the consuming spans of a subscription.
    operations: dict[str, int] = field(default_factory=dict)
    consumer_groups: dict[str, int] = field(default_factory=dict)
    basis: dict[str, int] = field(default_factory=dict)
    client_latency: Latency | None = None
    server_latency: Latency | None = None
    queue: Latency | None = None
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    active_days: int = 0
    support: Support = Support(0, 0)
    source_versions: tuple[str, ...] = ()
    target_versions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    # Kinds of things (causes, versions, ...) of which there were too many, and how often those beyond the limit count.
    folded: dict[str, int] = field(default_factory=dict)
    causes: tuple[Cause, ...] = ()
    exemplars: tuple[Exemplar, ...] = ()
    trace_query: TraceQuery | None = None


@dataclass(frozen=True, slots=True)
class EdgeHistory:
    """An observed edge over a range of UTC days: what rhythm, ceasing and emergence are judged from.

    A day is a bit of `mask` (bit 0 the first of the range): ninety days of fifty thousand edges are an integer each, and "active on how many
    covered days" is one `&` and one `bit_count`.
    """

    mask: int = 0
    calls: int = 0
    messages: int = 0
    # Distinct traces at least.
    traces: int = 0
    first_seen: datetime | None = None
    # Calls, or messages of an edge that has them, by day offset; empty where the days are not kept.
    by_day: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DesignedEdge:
    """What documents say about one dependency: the claims are its evidence, never empty."""

    rid: str
    relation: Relation
    source: Node
    target: Node
    via: Via = field(default_factory=Via)
    claims: tuple[Claim, ...] = ()
