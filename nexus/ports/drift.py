"""Drift runs and findings. Owner of the truth: `diff`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from nexus.model.document import Classification
from nexus.model.finding import Finding, RunInfo


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """Which findings of a run; evidence is cut to what the reader may see."""

    tenant: str
    clearance: Classification
    namespaces: tuple[str, ...] = ()
    environment: str | None = None
    namespace: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    flag: str = ""
    status: str = ""
    entity: str = ""
    min_severity: str = ""
    state: str = ""
    limit: int = 0
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A stored run as one reader sees it. `totals` and `metrics` as in api.md, before the filters."""

    run: RunInfo
    totals: dict[str, Any]
    metrics: dict[str, Any]
    findings: tuple[Finding, ...]
    next: str | None = None


class DriftReader(Protocol):
    """Reading changes nothing."""

    def report(self, wanted: FindingFilter) -> Report | None:
        """The newest stored run that fits the filter's environment and range; None where there is none."""
        ...


class DriftControl(Protocol):
    """Computing and steering."""

    def run(self, tenant: str, environment: str | None, start: datetime | None, end: datetime | None) -> RunInfo:
        """Compute and store a run (idempotent for the same four inputs). A source that could not be read raises SourceUnavailable."""
        ...
