"""What the diff says (drift.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from nexus.model.claim import Via
from nexus.model.edge import DesignedEdge, ObservedEdge
from nexus.model.service import Node


class Flag(StrEnum):
    """Top-level verdicts: convergence, absence, divergence, conflict."""

    CONFIRMED = "confirmed"
    DOC_ONLY = "doc_only"
    OBSERVED_ONLY = "observed_only"
    CONFLICT = "conflict"


class Severity(StrEnum):
    """How much a finding asks for attention."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class State(StrEnum):
    """Life of a finding over runs."""

    NEW = "new"
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    SUPPRESSED = "suppressed"
    RESOLVED = "resolved"
    REOPENED = "reopened"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Exposure:
    """What would have been seen, had the dependency been alive (drift.md section 3)."""

    opportunities: int
    covered_days: int
    detection: float | None
    rate_upper: float | None
    active_day_upper: float | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict with both sides' evidence. `fingerprint` holds no counts, dates or line numbers."""

    fingerprint: str
    flag: Flag
    status: str
    reason: str
    relation: str
    source: Node
    target: Node
    via: Via
    environment: str
    severity: Severity
    rank: float
    summary: str
    state: State = State.NEW
    first_detected: datetime | None = None
    exposure: Exposure | None = None
    what_would_change_this: str = ""
    designed: DesignedEdge | None = None
    observed: ObservedEdge | None = None
    undecided: bool = False
    # What a kind adds: promises checked, rhythm, members of a group, opposite edge. JSON-able.
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """What is known of a finding over runs. `present` and `missing` count window ends (days) in a row; ends are identities ("kind:name")."""

    fingerprint: str
    state: State
    flag: Flag
    status: str
    relation: str
    source: str
    target: str
    decided: bool
    first_detected: datetime
    changed_at: datetime
    present: int
    missing: int
    counted_on: date
    # The state that a hold ends in.
    before: State | None = None
    reason: str = ""
    owner: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The four things that determine a report, and when it was made."""

    id: str
    window_from: datetime
    window_to: datetime
    environment: str
    document_revision: str
    config_hash: str
    generated_at: datetime
