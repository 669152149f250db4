"""Findings and their evidence in the shapes of api.md."""

from __future__ import annotations

from typing import Any

from diff import stats
from nexus.model.edge import ObservedEdge
from nexus.model.finding import Exposure, Finding, RunInfo
from nexus.model.render import claim_json, instant, node_json, observed_edge_json, via_json


def run_json(run: RunInfo) -> dict[str, Any]:
    """The four things that determine a report."""
    return {
        "id": run.id,
        "window": {"from": instant(run.window_from), "to": instant(run.window_to)},
        "environment": run.environment,
        "document_revision": run.document_revision,
        "config_hash": run.config_hash,
        "generated_at": instant(run.generated_at),
    }


def exposure_json(exposure: Exposure | None) -> dict[str, Any] | None:
    """The numbers of an absence; null where none were needed."""
    if exposure is None:
        return None
    return {
        "opportunities": exposure.opportunities,
        "covered_days": exposure.covered_days,
        "detection": exposure.detection,
        "rate_upper": exposure.rate_upper,
        "active_day_upper": exposure.active_day_upper,
    }


def edge_json(edge: ObservedEdge) -> dict[str, Any]:
    """The traces' side. `error_interval` is the Jeffreys interval of the error rate."""
    amount = edge.calls or edge.messages
    low, high = stats.jeffreys(min(edge.errors, amount), amount)
    return observed_edge_json(edge) | {"error_interval": [round(low, 6), round(high, 6)] if amount else None}


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding with both sides' evidence."""
    return {
        "fingerprint": finding.fingerprint,
        "flag": finding.flag.value,
        "status": finding.status,
        "reason": finding.reason,
        "relation": finding.relation,
        "source": node_json(finding.source),
        "target": node_json(finding.target),
        "via": via_json(finding.via),
        "environment": finding.environment,
        "severity": finding.severity.value,
        "rank": finding.rank,
        "state": finding.state.value,
        "first_detected": instant(finding.first_detected),
        "summary": finding.summary,
        "undecided": finding.undecided,
        "exposure": exposure_json(finding.exposure),
        "what_would_change_this": finding.what_would_change_this,
        "designed": [claim_json(claim) for claim in finding.designed.claims] if finding.designed is not None else [],
        "observed": edge_json(finding.observed) if finding.observed is not None else None,
        "details": finding.details,
    }
