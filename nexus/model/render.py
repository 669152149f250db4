"""Edges and claims as JSON, in the shapes of api.md: one rendering for every report and surface."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from nexus.model.claim import Claim, Via
from nexus.model.edge import DesignedEdge, Latency, ObservedEdge
from nexus.model.service import Coverage, Node
from nexus.model.window import TimeRange

BASES = ("paired", "inferred", "client_only", "server_only", "boundary", "linked")


def instant(at: datetime | None) -> str | None:
    """RFC 3339, UTC, milliseconds."""
    if at is None:
        return None
    return (at if at.tzinfo is UTC else at.astimezone(UTC)).isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"


def latency_json(found: Latency | None) -> dict[str, Any]:
    """A latency, `{}` for none."""
    if found is None:
        return {}
    return {
        "count": found.count,
        "sum": found.sum,
        "min": found.min,
        "p50": found.p50,
        "p90": found.p90,
        "p95": found.p95,
        "p99": found.p99,
        "max": found.max,
    }


def node_json(node: Node) -> dict[str, str]:
    """An end of an edge."""
    return {"name": node.name, "kind": node.kind.value, "environment": node.environment}


def via_json(via: Via) -> dict[str, str]:
    """How, as far as it is stated."""
    return {"protocol": via.protocol, "operation": via.operation, "channel": via.channel}


def measures_json(edge: ObservedEdge) -> dict[str, Any]:
    """Measures of an edge over one range."""
    return {
        "protocols": edge.protocols,
        "via": edge.via,
        "operations": edge.operations,
        "consumer_groups": edge.consumer_groups,
        "basis": dict.fromkeys(BASES, 0) | edge.basis,
        "calls": edge.calls,
        "handled": edge.handled,
        "messages": edge.messages,
        "retries": edge.retries,
        "errors": edge.errors,
        "client_errors": edge.client_errors,
        "server_errors": edge.server_errors,
        "cancelled": edge.cancelled,
        "observed": edge.observed,
        "adjusted_calls": edge.adjusted_calls,
        "adjusted_errors": edge.adjusted_errors,
        "sampling_known": edge.sampling_known,
        "clock_suspect": edge.clock_suspect,
        "queue_unmeasured": edge.queue_unmeasured,
        "aliases": list(edge.aliases),
        "addresses": list(edge.addresses),
        "client_latency_ms": latency_json(edge.client_latency),
        "server_latency_ms": latency_json(edge.server_latency),
        "queue_ms": latency_json(edge.queue),
        "first_seen": instant(edge.first_seen),
        "last_seen": instant(edge.last_seen),
        "active_days": edge.active_days,
        "support": {"instances": edge.support.instances, "instance_hours": edge.support.instance_hours},
        "source_versions": list(edge.source_versions),
        "target_versions": list(edge.target_versions),
        "folded": edge.folded,
        "causes": [
            {"caller_operation": c.caller_operation, "callee_operation": c.callee_operation, "calls": c.calls}
            for c in edge.causes
        ],
        "exemplars": [
            {"outcome": e.outcome, "trace_id": e.trace_id, "span_id": e.span_id, "duration_ms": e.duration_ms}
            for e in edge.exemplars
        ],
    }


def observed_edge_json(edge: ObservedEdge) -> dict[str, Any]:
    """A whole observed edge."""
    query = edge.trace_query
    return {
        "rid": edge.rid,
        "layer": "observed",
        "relation": edge.relation.value,
        "environment": edge.source.environment,
        "source": node_json(edge.source),
        "target": node_json(edge.target),
        "infrastructure": edge.infrastructure,
        "self": edge.is_self,
        **measures_json(edge),
        "trace_query": None
        if query is None
        else {
            "backend": query.backend,
            "query": query.query,
            "start": instant(query.start),
            "end": instant(query.end),
            "url": query.url,
        },
    }


def coverage_json(found: Coverage, covered: TimeRange) -> dict[str, Any]:
    """Coverage of a window, and the window that the answer stands for."""
    return {
        "window": window_json(covered),
        "complete": found.complete,
        "sampling_policy": found.sampling_policy,
        "gaps": [
            {
                "source": g.source,
                "from": instant(g.start),
                "to": instant(g.end),
                "state": g.state.value,
                "reason": g.reason,
                "probability": g.probability,
            }
            for g in found.gaps
        ],
    }


def window_json(window: TimeRange) -> dict[str, Any]:
    """A range of time, null where open."""
    return {"from": instant(window.start), "to": instant(window.end)}


def designed_edge_json(edge: DesignedEdge) -> dict[str, Any]:
    """Shaped as an observed edge, with claims in place of measures."""
    return {
        "rid": edge.rid,
        "layer": "designed",
        "relation": edge.relation.value,
        "environment": edge.source.environment,
        "source": node_json(edge.source),
        "target": node_json(edge.target),
        "infrastructure": False,
        "self": False,
        "via": via_json(edge.via),
        "modalities": sorted({claim.modality.value for claim in edge.claims}),
        "claims": [claim_json(claim) for claim in edge.claims],
    }


def claim_json(claim: Claim) -> dict[str, Any]:
    """One claim with its place."""
    ref = claim.document
    body: dict[str, Any] = {
        "document": {"rid": ref.rid, "title": ref.title, "uri": ref.uri, "revision": ref.revision},
        "lines": list(claim.lines),
        "columns": list(claim.columns),
        "quote": claim.quote,
        "format": claim.format,
        "rule": claim.rule,
        "modality": claim.modality.value,
        "via": via_json(claim.via),
        "confidence": claim.confidence,
        "classification": claim.classification.value,
        "namespace": claim.namespace,
        "environment": claim.environment,
        "drawn": claim.drawn,
        "gateway": claim.gateway,
        "exclusivity": claim.exclusivity,
        "quantities": [
            {"metric": q.metric, "value": q.value, "unit": q.unit, "text": q.text} for q in claim.quantities
        ],
    }
    if claim.attributes:
        body["attributes"] = dict(claim.attributes)
    return body
