"""Drift runs and findings. Owner of the truth: `diff`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from nexus.model.document import Classification
from nexus.model.finding import Finding, RunInfo


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """Which findings of a run; evidence is cut to what the reader may see, and verdicts are those that it gives."""

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
    # A run by its id instead of the newest.
    run: str = ""
    # Of the sentences: en or ko.
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Report:
    """A stored run as one reader sees it. `totals` and `metrics` as in api.md, before the filters.

    `body` has what the run was made with: policy, window_kind, coverage, unseen (estimates), renames (proposals).
    """

    run: RunInfo
    totals: dict[str, Any]
    metrics: dict[str, Any]
    findings: tuple[Finding, ...]
    next: str | None = None
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FindingHistory:
    """One finding with its life: transitions `{"at", "from", "to", "run", "actor", "note"}`, and who keeps it quiet until when."""

    finding: Finding
    run: RunInfo
    transitions: tuple[dict[str, Any], ...] = ()
    reason: str = ""
    owner: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run in the list of runs; `state` is done or failed, then with the error."""

    run: RunInfo
    state: str
    trigger: str
    error: str = ""
    error_code: str = ""
    totals: dict[str, Any] = field(default_factory=dict)


class DriftReader(Protocol):
    """Reading changes nothing."""

    def report(self, wanted: FindingFilter) -> Report | None:
        """The newest stored run that fits the filter's environment and range; None where there is none."""
        ...


class DriftRecords(Protocol):
    """The life of one finding, and the runs there were. Reading changes nothing."""

    def finding(self, wanted: FindingFilter, fingerprint: str) -> FindingHistory | None:
        """One finding of the newest runs; None where there is none that the reader may see."""
        ...

    def runs(self, wanted: FindingFilter) -> tuple[list[RunRecord], str | None]:
        """Runs, newest first, failed ones too, and the next cursor."""
        ...


class DriftFigures(Protocol):
    """The newest run as metrics of this process."""

    def refresh(self) -> None:
        """Bring the metrics up to date."""
        ...

    def within_reach(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...]) -> bool:
        """Whether such a reader may know them: they are those of one tenant, at one level, over all namespaces."""
        ...


class DriftControl(Protocol):
    """Computing and steering."""

    def run(self, tenant: str, environment: str | None, start: datetime | None, end: datetime | None) -> RunInfo:
        """Compute and store a run (idempotent for the same four inputs). A source that could not be read raises SourceUnavailable."""
        ...

    def steer(
        self,
        wanted: FindingFilter,
        fingerprint: str,
        action: str,
        *,
        actor: str,
        reason: str = "",
        owner: str = "",
        expires_at: datetime | None = None,
    ) -> FindingHistory:
        """Acknowledge, suppress, resolve or reopen. NotFound where the reader sees no such finding, BadQuestion where something is missing."""
        ...
