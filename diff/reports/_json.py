"""Findings and their evidence in the shapes of api.md."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from diff import stats
from nexus.model.claim import Claim, Via
from nexus.model.edge import Latency, ObservedEdge
from nexus.model.finding import Exposure, Finding, RunInfo
from nexus.model.service import Node


def timestamp(at: datetime | None) -> str | None:
    """RFC 3339 UTC with milliseconds."""
    return None if at is None else at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def node_json(node: Node) -> dict[str, str]:
    """One end."""
    return {"name": node.name, "kind": node.kind.value, "environment": node.environment}


def via_json(via: Via) -> dict[str, str]:
    """How, as documented."""
    return {"protocol": via.protocol, "operation": via.operation, "channel": via.channel}


def run_json(run: RunInfo) -> dict[str, Any]:
    """The four things that determine a report."""
    return {
        "id": run.id, "window": {"from": timestamp(run.window_from), "to": timestamp(run.window_to)}, "environment": run.environment,
        "document_revision": run.document_revision, "config_hash": run.config_hash, "generated_at": timestamp(run.generated_at),
    }


def exposure_json(exposure: Exposure | None) -> dict[str, Any] | None:
    """The numbers of an absence; null where none were needed."""
    if exposure is None:
        return None
    return {
        "opportunities": exposure.opportunities, "covered_days": exposure.covered_days, "detection": exposure.detection, "rate_upper": exposure.rate_upper,
        "active_day_upper": exposure.active_day_upper,
    }


def claim_json(claim: Claim) -> dict[str, Any]:
    """A document's side: place and quote."""
    ref = claim.document
    return {
        "document": {"rid": ref.rid, "title": ref.title, "uri": ref.uri, "revision": ref.revision}, "lines": list(claim.lines), "columns": list(claim.columns), "quote": claim.quote,
        "format": claim.format, "rule": claim.rule, "modality": claim.modality.value, "via": via_json(claim.via), "confidence": claim.confidence,
        "classification": claim.classification.value, "namespace": claim.namespace, "gateway": claim.gateway, "exclusivity": claim.exclusivity, "environment": claim.environment,
        "quantities": [{"metric": q.metric, "value": q.value, "unit": q.unit, "text": q.text} for q in claim.quantities],
    }


def _latency(latency: Latency | None) -> dict[str, float]:
    if latency is None:
        return {}
    return {name: getattr(latency, name) for name in ("count", "sum", "min", "p50", "p90", "p95", "p99", "max")}


def edge_json(edge: ObservedEdge) -> dict[str, Any]:
    """The traces' side. `error_interval` is the Jeffreys interval of the error rate."""
    amount = edge.calls or edge.messages
    low, high = stats.jeffreys(min(edge.errors, amount), amount)
    query = edge.trace_query
    return {
        "rid": edge.rid, "layer": "observed", "relation": edge.relation.value, "environment": edge.source.environment, "source": node_json(edge.source), "target": node_json(edge.target),
        "infrastructure": edge.infrastructure, "self": edge.is_self, "protocols": edge.protocols, "via": edge.via, "basis": edge.basis, "calls": edge.calls, "handled": edge.handled,
        "messages": edge.messages, "retries": edge.retries, "errors": edge.errors, "client_errors": edge.client_errors, "server_errors": edge.server_errors, "cancelled": edge.cancelled,
        "observed": edge.observed, "adjusted_calls": edge.adjusted_calls, "adjusted_errors": edge.adjusted_errors, "sampling_known": edge.sampling_known,
        "error_interval": [round(low, 6), round(high, 6)] if amount else None,
        "clock_suspect": edge.clock_suspect, "queue_unmeasured": edge.queue_unmeasured, "aliases": list(edge.aliases), "addresses": list(edge.addresses),
        "client_latency_ms": _latency(edge.client_latency), "server_latency_ms": _latency(edge.server_latency), "queue_ms": _latency(edge.queue),
        "first_seen": timestamp(edge.first_seen), "last_seen": timestamp(edge.last_seen), "active_days": edge.active_days,
        "support": {"instances": edge.support.instances, "instance_hours": edge.support.instance_hours},
        "source_versions": list(edge.source_versions), "target_versions": list(edge.target_versions),
        "causes": [{"caller_operation": c.caller_operation, "callee_operation": c.callee_operation, "calls": c.calls} for c in edge.causes],
        "exemplars": [{"outcome": x.outcome, "trace_id": x.trace_id, "span_id": x.span_id, "duration_ms": x.duration_ms} for x in edge.exemplars],
        "trace_query": None if query is None else {"backend": query.backend, "query": query.query, "start": timestamp(query.start), "end": timestamp(query.end), "url": query.url},
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """One finding with both sides' evidence."""
    return {
        "fingerprint": finding.fingerprint, "flag": finding.flag.value, "status": finding.status, "reason": finding.reason, "relation": finding.relation,
        "source": node_json(finding.source), "target": node_json(finding.target), "via": via_json(finding.via), "environment": finding.environment,
        "severity": finding.severity.value, "rank": finding.rank, "state": finding.state.value, "first_detected": timestamp(finding.first_detected), "summary": finding.summary,
        "undecided": finding.undecided, "exposure": exposure_json(finding.exposure), "what_would_change_this": finding.what_would_change_this,
        "designed": [claim_json(claim) for claim in finding.designed.claims] if finding.designed is not None else [],
        "observed": edge_json(finding.observed) if finding.observed is not None else None, "details": finding.details,
    }
