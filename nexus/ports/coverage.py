"""What polled sources have read and could not read. Owner of the truth: `collector_receiver`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from nexus.model.service import CoverageRange
from nexus.model.window import TimeRange


class SourceState(StrEnum):
    """How a source is doing."""

    # Read up to its lag behind now.
    OK = "ok"
    # Answers, but older ranges are still to come.
    CATCHING_UP = "catching_up"
    # The last attempt failed; `reason` says why. What it did not read is not an absence.
    FAILING = "failing"
    # Configured, and never asked yet.
    STARTING = "starting"
    # Nothing has asked it for a while: no poller runs.
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """One polled source of a tenant."""

    name: str
    state: SourceState
    reason: str = ""
    # Everything before was read once; before `settled_to` again, for traces that came late.
    read_to: datetime | None = None
    settled_to: datetime | None = None
    last_attempt: datetime | None = None
    last_success: datetime | None = None
    traces: int = 0
    spans: int = 0
    requests: int = 0
    # State -> (ranges, seconds of event time).
    ranges: dict[str, tuple[int, float]] = field(default_factory=dict)
    # The newest ranges not read completely, in order; bounded.
    gaps: tuple[CoverageRange, ...] = ()


class CoverageReader(Protocol):
    """Reading what is on record."""

    def sources(self, tenant: str) -> list[SourceStatus]:
        """Every polled source of a tenant, by name."""
        ...

    def ranges(self, tenant: str, window: TimeRange, *, gaps: bool = False) -> list[CoverageRange]:
        """Ranges that overlap a window, in order; `gaps`: only those not read completely."""
        ...

    def require(self, tenant: str) -> None:
        """Raise SourceUnavailable with the reasons where a source of the tenant is failing."""
        ...
