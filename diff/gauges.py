"""The newest stored run as metrics, without a label per edge.

Every process that shows `/metrics` shows the same figures, read from the store: dashboards and rules take their maximum, not their sum.
"""

from __future__ import annotations

import threading
import time

import structlog

from diff.compare import kinds
from diff.reader import StoredDrift
from diff.visibility import visible
from nexus import telemetry
from nexus.errors import DependencyError
from nexus.model.document import Classification
from nexus.ports.drift import FindingFilter
from nexus.store.drift_finding import state_counts
from nexus.store.drift_run import newest_standard_run
from nexus.store.pool import Database

log = structlog.get_logger("nexus.diff")
# Scrapes may come from several sides.
AGE_S = 15.0


class StoredFigures:
    """Implements DriftFigures for one tenant, as a reader of that clearance sees its newest run of all environments."""

    def __init__(
        self, database: Database, drift: StoredDrift, tenant: str, clearance: Classification, age_s: float = AGE_S
    ) -> None:
        self._arguments = (database, drift, tenant, clearance)
        self._age_s = age_s
        self._shown = -age_s
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Show the newest run, at most every `age_s` seconds. Where the store does not answer, the figures stay and the scrape goes on."""
        with self._lock:
            if time.monotonic() - self._shown < self._age_s:
                return
            self._shown = time.monotonic()
        try:
            show(*self._arguments)
        except DependencyError as error:
            log.warning("diff_figures", error=str(error))

    def within_reach(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...]) -> bool:
        """A reader of the tenant who sees at least as much as they count."""
        _, _, own, level = self._arguments
        return tenant == own and clearance.rank >= level.rank and not namespaces


def show(database: Database, drift: StoredDrift, tenant: str, clearance: Classification) -> None:
    """Set the gauges from the newest run of all environments, as a reader of that clearance sees it."""
    report = drift.report(FindingFilter(tenant, clearance, limit=1))
    if report is None:
        return
    with database.connection() as connection:
        run = newest_standard_run(connection, tenant, "")
        states = (
            state_counts(connection, tenant, run.id, "", visible(run.labels, clearance, ())) if run is not None else {}
        )
    for status, kind in kinds().items():
        telemetry.DRIFT_FINDINGS.labels(flag=kind.flag.value, status=status).set(
            report.totals["by_status"].get(status, 0)
        )
    telemetry.DRIFT_UNDECIDED.set(report.totals["undecided"])
    for name in ("new", "open", "acknowledged", "suppressed", "resolved", "reopened", "held"):
        telemetry.DRIFT_STATES.labels(state=name).set(states.get(name, 0))
    for ratio, value in report.metrics.items():
        if isinstance(value, float):
            telemetry.DRIFT_RATIO.labels(ratio=ratio).set(value)
    telemetry.DRIFT_COVERED_DAYS.set(report.body.get("coverage", {}).get("covered_days", 0))
