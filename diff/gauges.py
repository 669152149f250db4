"""The newest run as metrics, without a label per edge."""

from __future__ import annotations

from diff.reader import StoredDrift
from diff.visibility import visible
from nexus import telemetry
from nexus.model.document import Classification
from nexus.ports.drift import FindingFilter
from nexus.store.drift_finding import state_counts
from nexus.store.drift_run import newest_standard_run
from nexus.store.pool import Database


def show(database: Database, drift: StoredDrift, tenant: str, clearance: Classification) -> None:
    """Set the gauges from the newest run of all environments, as a reader of that clearance sees it."""
    report = drift.report(FindingFilter(tenant, clearance, limit=1))
    if report is None:
        return
    with database.connection() as connection:
        run = newest_standard_run(connection, tenant, "")
        states = state_counts(connection, tenant, run.id, "", visible(run.labels, clearance, ())) if run is not None else {}
    from diff.compare import kinds

    for status, kind in kinds().items():
        telemetry.DRIFT_FINDINGS.labels(flag=kind.flag.value, status=status).set(report.totals["by_status"].get(status, 0))
    telemetry.DRIFT_UNDECIDED.set(report.totals["undecided"])
    for name in ("new", "open", "acknowledged", "suppressed", "resolved", "reopened", "held"):
        telemetry.DRIFT_STATES.labels(state=name).set(states.get(name, 0))
    for ratio, value in report.metrics.items():
        if isinstance(value, float):
            telemetry.DRIFT_RATIO.labels(ratio=ratio).set(value)
    telemetry.DRIFT_COVERED_DAYS.set(report.body.get("coverage", {}).get("covered_days", 0))


